package io.bpf4j.loader.link;

/** A hook of netfilter in this process's network namespace (Linux 6.4); {@code SEC("netfilter")} (NETFILTER). */
public sealed interface Netfilter extends AttachTarget {
    /** {@code NF_INET_*} of include/uapi/linux/netfilter.h. */
    enum Hook {
        PRE_ROUTING(0),
        LOCAL_IN(1),
        FORWARD(2),
        LOCAL_OUT(3),
        POST_ROUTING(4);

        private final int number;

        Hook(int number) {
            this.number = number;
        }

        public int number() {
            return number;
        }
    }

    /**
     * A hook of IPv4.
     *
     * @param priority lower values run earlier; each takes one program. INT_MIN and INT_MAX are reserved and
     *     refused; with {@link #withDefragmentation} it must be above -400
     */
    static Netfilter ipv4(Hook hook, int priority) {
        return new NetfilterData(2, hook, priority, false);
    }

    /** A hook of IPv6; {@code priority} as for {@link #ipv4}. */
    static Netfilter ipv6(Hook hook, int priority) {
        return new NetfilterData(10, hook, priority, false);
    }

    /** {@code NFPROTO_*}: 2 for IPv4, 10 for IPv6. */
    int family();

    Hook hook();

    int priority();

    /** Whether packets are defragmented first. */
    boolean defragments();

    /** Defragments packets first ({@code BPF_F_NETFILTER_IP_DEFRAG}, Linux 6.6). */
    default Netfilter withDefragmentation() {
        return new NetfilterData(family(), hook(), priority(), true);
    }
}

record NetfilterData(int family, Netfilter.Hook hook, int priority, boolean defragments) implements Netfilter {
    @Override
    public String description() {
        return "netfilter family " + family + " hook " + hook.number() + " priority " + priority;
    }
}
