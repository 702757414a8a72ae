package io.bpf4j.loader.link;

/** The place in the path of a packet where an XDP program runs. <i>Immutable.</i> */
public enum XdpMode {
    /** In the driver if the driver supports XDP, else generic; the kernel chooses. */
    ANY(0),
    /** In the network stack, for all devices; slower, because the packet already is a socket buffer. */
    GENERIC(1 << 1),
    /** In the driver; refused with EOPNOTSUPP if the driver does not support XDP. */
    DRIVER(1 << 2),
    /** On the device itself; the program must have been loaded for it. */
    HARDWARE(1 << 3);

    private final int flag;

    XdpMode(int flag) {
        this.flag = flag;
    }

    /** XDP_FLAGS_*_MODE of include/uapi/linux/if_link.h. */
    public int flag() {
        return flag;
    }
}
