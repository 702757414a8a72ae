package io.bpf4j.loader.link;

import java.nio.file.Path;

/**
 * An infrared receiver (Linux 4.18). The kernel has no link for it, but closing the returned link detaches; {@code
 * SEC("lirc_mode2")} (LIRC_MODE2).
 */
public sealed interface Lirc extends AttachTarget {
    /** A receiver by its device, such as {@code /dev/lirc0}. */
    static Lirc of(Path device) {
        return new LircData(device);
    }

    Path device();
}

record LircData(Path device) implements Lirc {
    @Override
    public String description() {
        return "infrared receiver " + device;
    }
}
