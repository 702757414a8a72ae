package io.bpf4j.loader.link;

import java.util.Optional;

/**
 * The packets that a network device receives, before the network stack (Linux 5.9); {@code SEC("xdp")} (XDP). A
 * device takes one program for each mode: EBUSY if it already has one.
 */
public sealed interface Xdp extends AttachTarget {
    /** The point in the path of a packet at which the program runs. */
    enum Mode {
        /** In the driver if the driver supports XDP, else generic; the kernel chooses. */
        ANY(0),
        /** In the network stack, for all devices; slower, because the packet already is a socket buffer. */
        GENERIC(1 << 1),
        /** In the driver; refused with EOPNOTSUPP if the driver does not support XDP. */
        DRIVER(1 << 2),
        /** On the device itself; the program must have been loaded for it. */
        HARDWARE(1 << 3);

        private final int flag;

        Mode(int flag) {
            this.flag = flag;
        }

        /** XDP_FLAGS_*_MODE of include/uapi/linux/if_link.h. */
        public int flag() {
            return flag;
        }
    }

    /** In any mode. */
    static Xdp on(NetDevice device) {
        return new XdpData(device, Mode.ANY, true, Optional.empty());
    }

    NetDevice device();

    Mode mode();

    /** Whether the kernel makes a link. */
    boolean hasLink();

    /** The program that is replaced; empty for none. */
    Optional<ProgramHandle> replaced();

    default Xdp withMode(Mode mode) {
        return new XdpData(device(), mode, hasLink(), replaced());
    }

    /**
     * Attaches without a link, by netlink, as {@code ip link set dev … xdp} does (Linux 4.8; bpf4j needs 5.7).
     * <b>The program stays attached if this process ends without closing what attaching returns</b>, until {@code
     * Links.detach}, {@code ip link set dev … xdp off} or the end of the device. Closing detaches it, unless another
     * program has replaced it, which the kernel checks. It is refused if the device has a program for the mode. A
     * device that is moved to another network namespace takes the program along: closing then does nothing, and a
     * thread in that namespace can detach it by {@code Links.detach}.
     */
    default Xdp withoutLink() {
        return new XdpData(device(), mode(), false, replaced());
    }

    /**
     * Replaces a program that is attached without a link, atomically (XDP_FLAGS_REPLACE, Linux 5.7): only with {@link
     * #withoutLink}. It is refused if the device has another program, or none.
     *
     * @param program still belongs to its owner; {@code Programs.byId} opens that of another process
     */
    default Xdp replacing(ProgramHandle program) {
        return new XdpData(device(), mode(), hasLink(), Optional.of(program));
    }
}

record XdpData(NetDevice device, Xdp.Mode mode, boolean hasLink, Optional<ProgramHandle> replaced) implements Xdp {
    @Override
    public String description() {
        return "XDP of " + device + (hasLink ? "" : " without a link");
    }
}
