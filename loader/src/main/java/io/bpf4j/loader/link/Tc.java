package io.bpf4j.loader.link;

import java.util.Optional;

/**
 * A filter of traffic control, by netlink (Linux 4.5): for kernels without {@link Tcx}, such as those of Ubuntu
 * 22.04 and Debian 12; {@code SEC("tc")}, {@code "tcx/ingress"}, {@code "tcx/egress"} (program type SCHED_CLS). It
 * is a classifier {@code bpf} with {@code direct-action} in the qdisc {@code clsact} of the device, as {@code tc
 * filter add dev … ingress bpf da} makes it; TC_ACT_UNSPEC (-1) passes the packet to the next filter.
 *
 * <p>The qdisc is made if the device has none. Closing the returned link removes the filter, unless another program has
 * replaced it, and then the qdisc if bpf4j made it and it has no other filters.
 *
 * <p><b>There is no link: the filter stays if this process ends without closing it</b>, until {@code Links.detach},
 * {@code tc filter del} or the end of the device. The program that starts next finds it by {@code Links.attachedTo},
 * and replaces it by {@link #replacing}. The qdisc stays as well: {@code tc qdisc show} lists it, and {@code tc qdisc
 * del dev … clsact} removes it with all filters. A device that is moved to another network namespace loses both.
 *
 * <p>The kernel changes and deletes the filter with a priority, a protocol and a handle, whichever program it has, and
 * removes a qdisc with all its filters. So bpf4j queries them first. If another process replaces a filter between the
 * query and the deletion, its program is deleted, and closing throws an exception that names it. If it adds a filter
 * just before the qdisc is removed, that filter is removed as well, without notice: if several processes use a device,
 * make the qdisc beforehand ({@code tc qdisc add dev … clsact}), and it stays.
 */
public sealed interface Tc extends AttachTarget {
    /** Received packets. */
    static Tc ingress(NetDevice device) {
        return new TcData(device, true, 0, 0, Optional.empty());
    }

    /** Sent packets. */
    static Tc egress(NetDevice device) {
        return new TcData(device, false, 0, 0, Optional.empty());
    }

    NetDevice device();

    /** True for received packets; false for sent packets. */
    boolean isIngress();

    /** 1 to 65,535; 0 for one that the kernel chooses. */
    int priority();

    /** Among the filters of the priority, unsigned; 0 for one that the kernel chooses. */
    int handle();

    /** The program that is replaced; empty for none. */
    Optional<ProgramHandle> replaced();

    /**
     * Sets the priority: filters with a lower number run first. The kernel chooses numbers below those of all filters
     * that it has chosen one for, from 49,152 down.
     *
     * @throws IllegalArgumentException if it is not 0 to 65,535
     */
    default Tc withPriority(int number) {
        return new TcData(device(), isIngress(), number, handle(), replaced());
    }

    /** Sets the handle: the number among the filters of its priority, which must be free. */
    default Tc withHandle(int number) {
        return new TcData(device(), isIngress(), priority(), number, replaced());
    }

    /**
     * Replaces the one filter that has this program, and the priority and the handle if they are given. Its program is
     * replaced at once: no packet is missed.
     *
     * @param program still belongs to its owner; {@code Programs.byId} opens that of another process
     */
    default Tc replacing(ProgramHandle program) {
        return new TcData(device(), isIngress(), priority(), handle(), Optional.of(program));
    }
}

record TcData(NetDevice device, boolean isIngress, int priority, int handle, Optional<ProgramHandle> replaced)
        implements Tc {
    private static final int MAX_PRIORITY = 0xffff;

    TcData {
        if (priority < 0 || priority > MAX_PRIORITY) {
            throw new IllegalArgumentException("priority " + priority + ": filters have priorities from 1 to "
                    + MAX_PRIORITY + ", and 0 lets the kernel choose one");
        }
    }

    @Override
    public String description() {
        return "the filters of " + (isIngress ? "ingress of " : "egress of ") + device;
    }
}
