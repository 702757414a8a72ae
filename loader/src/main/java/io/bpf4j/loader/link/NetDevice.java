package io.bpf4j.loader.link;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A network device of this process's network namespace, by name or by index. <i>Immutable.</i> A name is looked up when
 * a program is attached.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code HooksOnKernelTest}.
 *
 * @param name such as {@code eth0}; null if it is given by index
 * @param index its positive number; 0 if it is given by name
 */
public record NetDevice(@Nullable String name, int index) {
    /** IFNAMSIZ without the NUL. */
    private static final int MAX_NAME_LENGTH = 15;

    public NetDevice {
        if ((name == null) == (index == 0) || index < 0) {
            throw new IllegalArgumentException(
                    "a network device has either a name or a positive index, not name " + name + " and index " + index);
        }
        // The kernel would truncate the name, or end it at a NUL, which could be the name of another device.
        if (name != null
                && (name.isEmpty()
                        || name.getBytes(StandardCharsets.UTF_8).length > MAX_NAME_LENGTH
                        || name.indexOf('\0') >= 0)) {
            throw new IllegalArgumentException("\"" + name + "\" is not a name of a network device: names have 1 to "
                    + MAX_NAME_LENGTH + " bytes");
        }
    }

    /** By its name. */
    public static NetDevice named(String name) {
        return new NetDevice(name, 0);
    }

    /** By its index, as {@code ip link} numbers devices. */
    public static NetDevice of(int index) {
        return new NetDevice(null, index);
    }

    @Override
    public String toString() {
        return name == null ? "device " + index : name;
    }
}
