package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.kernel.KernelVersion;
import io.bpf4j.loader.link.Anchor;
import io.bpf4j.loader.link.AttachTarget;
import java.util.Objects;
import java.util.Optional;

/** What usually stands behind the kernel's refusal to attach. */
final class Refusals {
    private Refusals() {}

    /** The kernel's words, and what is known beyond them about a target. */
    static String explained(SyscallException failure, Attempt attempt, AttachTarget target) {
        String words = Objects.requireNonNullElse(failure.getMessage(), failure.call());
        Errno errno = failure.errno();
        String why = switch (target) {
            case AttachTarget.Uprobe _,
                    AttachTarget.UprobeFunction _,
                    AttachTarget.UprobeMulti _,
                    AttachTarget.UprobeMultiFunctions _,
                    AttachTarget.UprobeMultiNamed _ -> uprobe(errno);
            case AttachTarget.Kprobe _, AttachTarget.Ksyscall _ -> kprobe(errno);
            // Debian's 6.1 has the link type, and not what it needs.
            case AttachTarget.KprobeMulti _ ->
                errno == Errno.EOPNOTSUPP ? "; this kernel is built without CONFIG_FPROBE" : kprobe(errno);
            case AttachTarget.Xdp _ -> xdp(errno) + since(errno, attempt, 5, 9);
            case AttachTarget.Tcx tcx -> ordered(errno, tcx.anchor()) + since(errno, attempt, 6, 6);
            case AttachTarget.Netkit netkit -> ordered(errno, netkit.anchor()) + since(errno, attempt, 6, 7);
            case AttachTarget.Cgroup cgroup -> cgroup(errno, cgroup.anchor()) + since(errno, attempt, 5, 7);
            case AttachTarget.Netfilter _ -> netfilter(errno) + since(errno, attempt, 6, 4);
            case AttachTarget.NetNamespace _ -> namespace(errno) + since(errno, attempt, 5, 8);
            case AttachTarget.Sockmap _ -> sockmap(errno);
            case AttachTarget.Iter _ -> iter(errno) + since(errno, attempt, 5, 8);
            case AttachTarget.OpenPerfEvent _ -> openEvent(errno);
            case AttachTarget.Freplace _ ->
                errno == Errno.EINVAL ? "; the function has another signature than the program" : "";
            case AttachTarget.PerfEvent _,
                    AttachTarget.Tracepoint _,
                    AttachTarget.RawTracepoint _,
                    AttachTarget.Tracing _,
                    AttachTarget.Lirc _ -> "";
            case AttachTarget.TracingMulti _ -> tracings(errno);
        };
        return words + why + missing(failure, attempt.attachType(), attempt.features());
    }

    /** What an error number of uprobes means, to be put behind the kernel's words. */
    static String uprobe(Errno errno) {
        return switch (errno) {
            case ESRCH -> "; the process is gone";
            case EINVAL ->
                "; an offset is not the start of an instruction that can be probed, or its semaphore is not where the"
                        + " site says";
            default -> "";
        };
    }

    /** ENOTTY is of the ioctl that stands in for a link before 5.15. */
    private static String openEvent(Errno errno) {
        return switch (errno) {
            case EBADF, EINVAL, ENOTTY -> "; the descriptor is no perf event";
            default -> "";
        };
    }

    private static String tracings(Errno errno) {
        return switch (errno) {
            case EINVAL, ENOENT, EBUSY -> "; one of the functions can't be traced, which the kernel doesn't name";
            case EOPNOTSUPP -> "; this kernel's tracer can't do it (CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS)";
            default -> "";
        };
    }

    private static String kprobe(Errno errno) {
        return switch (errno) {
            case ENOENT, ESRCH -> "; this kernel has no function of such a name that can be traced";
            case EINVAL, EOPNOTSUPP, EILSEQ -> "; the function can't be probed, or not there";
            default -> "";
        };
    }

    private static String xdp(Errno errno) {
        return switch (errno) {
            case EBUSY -> "; the device has an XDP program already: ip link show tells which";
            case EOPNOTSUPP -> "; the driver can't: XdpMode.GENERIC works with every device";
            case EINVAL -> "; there is no such device, or its MTU is more than the program takes: SEC(\"xdp.frags\")";
            default -> "";
        };
    }

    private static String ordered(Errno errno, Anchor anchor) {
        return switch (errno) {
            case ESTALE -> "; the order has another revision than " + anchor.expectedRevision();
            case ENOENT, EBADF -> anchor.isDefault() ? "" : "; what it is relative to is not attached there";
            case ERANGE -> "; the hook has 64 programs, as many as it takes";
            case EEXIST -> "; the program is attached there already";
            default -> "";
        };
    }

    private static String cgroup(Errno errno, Anchor anchor) {
        return switch (errno) {
            case EBADF -> "; it is not a control group of version 2";
            case EPERM -> "; a program further up, or here, was attached alone (without BPF_F_ALLOW_MULTI)";
            default -> ordered(errno, anchor);
        };
    }

    private static String netfilter(Errno errno) {
        return switch (errno) {
            case EBUSY -> "; another BPF program has this priority at the hook";
            case EAFNOSUPPORT -> "; programs take families 2 (IPv4) and 10 (IPv6)";
            case EPROTO -> "; there is no such hook";
            case ERANGE -> "; the least and the greatest int are no priorities, and with defragment none up to -400";
            default -> "";
        };
    }

    private static String namespace(Errno errno) {
        return switch (errno) {
            case EEXIST, E2BIG -> "; it has as many programs of the kind as it takes: 1 flow dissector, 64 sk_lookup";
            case EINVAL -> "; it is no file of a network namespace";
            default -> "";
        };
    }

    private static String sockmap(Errno errno) {
        return switch (errno) {
            case EOPNOTSUPP -> "; a map of that type takes no such program";
            case EBUSY -> "; it has a program of the kind already";
            default -> "";
        };
    }

    private static String iter(Errno errno) {
        return switch (errno) {
            case EBADF, EINVAL -> "; this kind of iterator goes over something else, or needs to be told over what";
            case EACCES -> "; the program reads more of a key or value than the map has";
            default -> "";
        };
    }

    /** A kernel says EINVAL to a kind of link that is newer; its version says nothing by itself, so only then. */
    private static String since(Errno errno, Attempt attempt, int major, int minor) {
        KernelVersion needed = KernelVersion.of(major, minor);
        KernelVersion running = attempt.host().version();
        return errno == Errno.EINVAL && running.compareTo(needed) < 0
                ? "; it needs Linux " + needed + ", and this is " + running
                : "";
    }

    /** The kernel says EINVAL to what it doesn't know; only then is it worth asking whether it knows this. */
    private static String missing(SyscallException failure, Optional<AttachType> attachType, Features features) {
        if (failure.errno() != Errno.EINVAL || attachType.isEmpty()) {
            return "";
        }
        return switch (attachType.get()) {
            case TRACE_UPROBE_MULTI -> missing(Feature.UPROBE_MULTI_LINK, features);
            case TRACE_UPROBE_SESSION -> missing(Feature.UPROBE_SESSION, features);
            case TRACE_KPROBE_MULTI, TRACE_KPROBE_SESSION -> missing(Feature.KPROBE_MULTI_LINK, features);
            case TRACE_FENTRY_MULTI, TRACE_FEXIT_MULTI, TRACE_FSESSION_MULTI ->
                missing(Feature.TRACING_MULTI_LINK, features);
            default -> "";
        };
    }

    private static String missing(Feature feature, Features features) {
        return !features.lacks(feature)
                ? ""
                : "; this kernel does not have " + feature.description() + " (requires Linux >= " + feature.since()
                        + ")";
    }
}
