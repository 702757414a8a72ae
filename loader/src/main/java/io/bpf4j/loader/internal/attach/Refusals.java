package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.KernelVersion;
import io.bpf4j.loader.link.Anchor;
import io.bpf4j.loader.link.AttachTarget;
import org.jspecify.annotations.Nullable;

/**
 * The usual meaning of an error number for each kind of target, appended to the kernel's error.
 *
 * <p>Tested by {@code AttacherTest}, {@code KernelLinkTest} and {@code HooksOnKernelTest}.
 */
final class Refusals {
    private Refusals() {}

    /** The meaning; empty if not known. */
    static String of(AttachTarget target, Errno errno) {
        return switch (target) {
            case AttachTarget.Uprobe _, AttachTarget.UprobeMulti _ -> ofUprobe(errno);
            case AttachTarget.Kprobe _, AttachTarget.Ksyscall _ -> ofKprobe(errno);
            // Debian's 6.1 has the link type, but not the feature that it needs.
            case AttachTarget.KprobeMulti _ ->
                errno == Errno.EOPNOTSUPP ? "; this kernel is built without CONFIG_FPROBE" : ofKprobe(errno);
            case AttachTarget.TracingMulti _ ->
                switch (errno) {
                    case EINVAL, ENOENT, EBUSY ->
                        "; one of the functions can't be traced, which the kernel doesn't name";
                    case EOPNOTSUPP -> "; this kernel's tracer can't do it (CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS)";
                    default -> "";
                };
            case AttachTarget.Freplace _ ->
                errno == Errno.EINVAL ? "; the function has another signature than the program" : "";
            // ENOTTY comes from the ioctl that replaces a link before 5.15.
            case AttachTarget.OpenPerfEvent _ ->
                switch (errno) {
                    case EBADF, EINVAL, ENOTTY -> "; the descriptor is no perf event";
                    default -> "";
                };
            case AttachTarget.Cgroup cgroup ->
                switch (errno) {
                    case EBADF -> "; it is not a control group of version 2";
                    case EPERM -> "; a program further up, or here, was attached alone (without BPF_F_ALLOW_MULTI)";
                    default -> ofPlace(errno, cgroup.anchor());
                };
            case AttachTarget.Xdp _ ->
                switch (errno) {
                    case EBUSY -> "; the device has an XDP program already: ip link show tells which";
                    case EOPNOTSUPP -> "; the driver can't: Xdp.Mode.GENERIC works with every device";
                    case EINVAL ->
                        "; there is no such device, or its MTU is more than the program takes: SEC(\"xdp.frags\")";
                    default -> "";
                };
            case AttachTarget.Tcx tcx -> ofPlace(errno, tcx.anchor());
            case AttachTarget.Netkit netkit -> ofPlace(errno, netkit.anchor());
            case AttachTarget.Netfilter _ ->
                switch (errno) {
                    case EBUSY -> "; another BPF program has this priority at the hook";
                    case EAFNOSUPPORT -> "; programs take families 2 (IPv4) and 10 (IPv6)";
                    case EPROTO -> "; there is no such hook";
                    case ERANGE ->
                        "; the least and the greatest int are no priorities, and with defragment none up to -400";
                    default -> "";
                };
            case AttachTarget.NetNamespace _ ->
                switch (errno) {
                    case EEXIST, E2BIG ->
                        "; it has as many programs of the kind as it takes: 1 flow dissector, 64 sk_lookup";
                    case EINVAL -> "; it is no file of a network namespace";
                    default -> "";
                };
            case AttachTarget.Sockmap _ ->
                switch (errno) {
                    case EOPNOTSUPP -> "; a map of that type takes no such program";
                    case EBUSY -> "; it has a program of the kind already";
                    default -> "";
                };
            case AttachTarget.Iter _ ->
                switch (errno) {
                    case EBADF, EINVAL ->
                        "; this kind of iterator goes over something else, or needs to be told over what";
                    case EACCES -> "; the program reads more of a key or value than the map has";
                    default -> "";
                };
            case AttachTarget.Tracepoint _, AttachTarget.RawTracepoint _, AttachTarget.Tracing _ -> "";
            case AttachTarget.PerfEvent _, AttachTarget.Lirc _ -> "";
        };
    }

    static String ofUprobe(Errno errno) {
        return switch (errno) {
            case ESRCH -> "; the process is gone";
            case EINVAL ->
                "; an offset is not the start of an instruction that can be probed, or its semaphore is not where the"
                        + " site says";
            default -> "";
        };
    }

    private static String ofKprobe(Errno errno) {
        return switch (errno) {
            case ENOENT, ESRCH -> "; this kernel has no function of such a name that can be traced";
            case EINVAL, EOPNOTSUPP, EILSEQ -> "; the function can't be probed, or not there";
            default -> "";
        };
    }

    private static String ofPlace(Errno errno, Anchor anchor) {
        return switch (errno) {
            case ESTALE -> "; the order has another revision than " + anchor.expectedRevision();
            case ENOENT, EBADF -> anchor.isDefault() ? "" : "; what it is relative to is not attached there";
            case ERANGE -> "; the hook has 64 programs, as many as it takes";
            case EEXIST -> "; the program is attached there already";
            default -> "";
        };
    }

    /** The first kernel with such links, older kernels return EINVAL; null if another probe detects them. */
    static @Nullable KernelVersion since(AttachTarget target) {
        return switch (target) {
            case AttachTarget.Cgroup _ -> KernelVersion.of(5, 7);
            case AttachTarget.NetNamespace _, AttachTarget.Iter _ -> KernelVersion.of(5, 8);
            case AttachTarget.Xdp _ -> KernelVersion.of(5, 9);
            case AttachTarget.Netfilter _ -> KernelVersion.of(6, 4);
            case AttachTarget.Tcx _ -> KernelVersion.of(6, 6);
            case AttachTarget.Netkit _ -> KernelVersion.of(6, 7);
            default -> null;
        };
    }
}
