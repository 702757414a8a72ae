package io.bpf4j.loader.link;

/** Where in the path of a packet an XDP program runs. <i>Immutable.</i> */
public enum XdpMode {
    /** In the driver if it can, else generic: the kernel's choice. */
    ANY(0),
    /** By the network stack, for devices of every kind, and slower: the packet is a socket buffer already. */
    GENERIC(1 << 1),
    /** In the driver; refused with EOPNOTSUPP where it can't. */
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
