package io.bpf4j.loader.map;

import io.bpf4j.sys.internal.call.ObjectCommand;

/**
 * What this process may do with the elements of a map that it opens. The kernel checks it at each call, and checks the
 * permissions of a pin's file when the pin is opened. BPF programs are not restricted. <i>Immutable.</i>
 */
public enum MapAccess {
    /** The default. The file of a pin must be readable and writable. */
    READ_WRITE(0),
    /** {@code BPF_F_RDONLY} (Linux 4.15). The file of a pin must be readable. */
    READ_ONLY(ObjectCommand.READ_ONLY),
    /** {@code BPF_F_WRONLY} (Linux 4.15). The file of a pin must be writable. */
    WRITE_ONLY(ObjectCommand.WRITE_ONLY);

    private final int flag;

    MapAccess(int flag) {
        this.flag = flag;
    }

    /** The flag of bpf(2); 0 for {@link #READ_WRITE}. */
    public int flag() {
        return flag;
    }
}
