package io.bpf4j.loader.link;

/**
 * The packets of a network device, in traffic control (Linux 6.6); {@code SEC("tc")}, {@code SEC("tcx/ingress")}
 * (TCX_INGRESS), {@code SEC("tcx/egress")} (TCX_EGRESS). Programs return TCX_NEXT (-1) to pass the packet to the
 * next program.
 */
public sealed interface Tcx extends AttachTarget {
    /** Received packets. */
    static Tcx ingress(NetDevice device) {
        return new TcxData(device, true, Anchor.last(), false);
    }

    /** Sent packets. */
    static Tcx egress(NetDevice device) {
        return new TcxData(device, false, Anchor.last(), false);
    }

    NetDevice device();

    /** True for received packets; false for sent packets. */
    boolean isIngress();

    Anchor anchor();

    /** Whether a filter is used instead of a link if the kernel has no tcx. */
    boolean hasFilterFallback();

    default Tcx withAnchor(Anchor anchor) {
        return new TcxData(device(), isIngress(), anchor, hasFilterFallback());
    }

    /**
     * Attaches as a filter, {@link Tc}, on kernels without tcx (before Linux 6.6). The same program can do that: its
     * return values have the same meaning. A filter has no link: it stays attached if this process ends without
     * closing it. Not with an anchor.
     */
    default Tcx withFilterFallback() {
        return new TcxData(device(), isIngress(), anchor(), true);
    }
}

record TcxData(NetDevice device, boolean isIngress, Anchor anchor, boolean hasFilterFallback) implements Tcx {
    @Override
    public String description() {
        return (isIngress ? "ingress of " : "egress of ") + device + anchor.suffix();
    }
}
