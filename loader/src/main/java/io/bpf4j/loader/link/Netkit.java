package io.bpf4j.loader.link;

/**
 * The packets that a netkit device sends (Linux 6.7); {@code SEC("netkit/primary")} (NETKIT_PRIMARY), {@code
 * SEC("netkit/peer")} (NETKIT_PEER).
 */
public sealed interface Netkit extends AttachTarget {
    /** The packets that the primary device of a pair sends. */
    static Netkit primary(NetDevice primary) {
        return new NetkitData(primary, false, Anchor.last());
    }

    /** The packets that the peer of a primary device sends. */
    static Netkit peer(NetDevice primary) {
        return new NetkitData(primary, true, Anchor.last());
    }

    /** The primary device of the pair, also for programs of its peer. */
    NetDevice device();

    boolean isPeer();

    Anchor anchor();

    default Netkit withAnchor(Anchor anchor) {
        return new NetkitData(device(), isPeer(), anchor);
    }
}

record NetkitData(NetDevice device, boolean isPeer, Anchor anchor) implements Netkit {
    @Override
    public String description() {
        return "netkit " + device + (isPeer ? " (peer)" : "") + anchor.suffix();
    }
}
