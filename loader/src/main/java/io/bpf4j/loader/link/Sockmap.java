package io.bpf4j.loader.link;

import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.sys.kernel.AttachType;
import java.util.Optional;

/**
 * The sockets in a map of type SOCKMAP or SOCKHASH; {@code SEC("sk_skb/…")}, {@code SEC("sk_msg")}. The kernel
 * creates a link from Linux 6.10 on. Before (Linux 4.14), closing the returned link detaches as well. A map takes
 * one program for each attach type.
 *
 * <p>A socket gets the map's programs when it is inserted, and keeps them until it is removed. Attaching and
 * detaching do not affect sockets that are already in the map.
 */
public sealed interface Sockmap extends AttachTarget {
    /**
     * The sockets of a map.
     *
     * @param map still belongs to its owner
     */
    static Sockmap of(BpfMap map) {
        return new SockmapData(map, Optional.empty());
    }

    BpfMap map();

    /** Empty for the program's own attach type. */
    Optional<AttachType> attachType();

    /**
     * For a program that was loaded without attach type, as {@code SEC("sk_skb")}, and for {@code
     * Links.attachedTo}.
     */
    default Sockmap withAttachType(AttachType type) {
        return new SockmapData(map(), Optional.of(type));
    }
}

record SockmapData(BpfMap map, Optional<AttachType> attachType) implements Sockmap {
    @Override
    public String description() {
        return "the sockets of map \"" + map.name() + "\"";
    }
}
