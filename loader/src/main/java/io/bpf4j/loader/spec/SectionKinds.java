package io.bpf4j.loader.spec;

import static io.bpf4j.loader.spec.SectionTargets.inFile;
import static io.bpf4j.loader.spec.SectionTargets.kprobe;
import static io.bpf4j.loader.spec.SectionTargets.named;
import static io.bpf4j.loader.spec.SectionTargets.uprobe;
import static io.bpf4j.sys.kernel.AttachType.*;
import static io.bpf4j.sys.kernel.ProgramType.*;

import io.bpf4j.loader.link.Kprobe;
import io.bpf4j.loader.link.KprobeMulti;
import io.bpf4j.loader.link.Ksyscall;
import io.bpf4j.loader.link.RawTracepoint;
import io.bpf4j.loader.link.TracingMulti;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.loader.spec.SectionKind.Target;
import io.bpf4j.loader.spec.SectionTargets.Reader;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The table of section names. Names and their meaning are from the kernel's Documentation/bpf/libbpf/program_types.rst,
 * and for names missing there (sessions, {@code .multi} of uprobes, tcx, netkit, unix sockets) from the commits that
 * added them to tools/lib/bpf.
 *
 * <p>Tested by {@code SectionNamesTest} and {@code SectionKindTest}.
 */
final class SectionKinds {
    private SectionKinds() {}

    private static final Rows ROWS = table();

    static List<SectionKind> all() {
        return List.copyOf(ROWS.kinds);
    }

    /** The reader of a kind's targets; empty for kinds without targets, or that another module attaches. */
    static Optional<Reader> reader(SectionKind kind) {
        return Optional.ofNullable(ROWS.readers.get(kind.name()));
    }

    static Optional<SectionKind> find(String sectionName) {
        return ROWS.kinds.stream()
                .filter(kind -> matches(kind, sectionName))
                .max(Comparator.comparingInt(kind -> kind.name().length()));
    }

    private static boolean matches(SectionKind kind, String sectionName) {
        return sectionName.equals(kind.name())
                || (kind.target() != Target.NONE && sectionName.startsWith(kind.name() + "/"));
    }

    /** The part of a section name after the kind's name and a slash; may be empty. */
    static String targetOf(SectionKind kind, String sectionName) {
        int at = kind.name().length() + 1;
        return sectionName.length() < at ? "" : sectionName.substring(at);
    }

    private static Rows table() {
        Rows rows = new Rows();

        // Tracing
        rows.open("kprobe", KPROBE, null, "FUNCTION[+OFFSET]", kprobe(Kprobe::entry))
                .open("kretprobe", KPROBE, null, "FUNCTION", kprobe(Kprobe::exit));
        rows.open("ksyscall", KPROBE, null, "SYSCALL", named(Ksyscall::entry))
                .open("kretsyscall", KPROBE, null, "SYSCALL", named(Ksyscall::exit));
        rows.open("kprobe.multi", KPROBE, TRACE_KPROBE_MULTI, "PATTERN", named(KprobeMulti::entry));
        rows.open("kretprobe.multi", KPROBE, TRACE_KPROBE_MULTI, "PATTERN", named(KprobeMulti::exit));
        rows.open("kprobe.session", KPROBE, TRACE_KPROBE_SESSION, "PATTERN", named(KprobeMulti::entry));
        rows.openOrSleepable("uprobe", KPROBE, null, "FILE:FUNCTION[+OFFSET]", uprobe(Uprobe::entry));
        rows.openOrSleepable("uretprobe", KPROBE, null, "FILE:FUNCTION", uprobe(Uprobe::exit));
        rows.openOrSleepable("uprobe.multi", KPROBE, TRACE_UPROBE_MULTI, "FILE:PATTERN", inFile(UprobeMulti::entry));
        rows.openOrSleepable("uretprobe.multi", KPROBE, TRACE_UPROBE_MULTI, "FILE:PATTERN", inFile(UprobeMulti::exit));
        rows.openOrSleepable(
                "uprobe.session", KPROBE, TRACE_UPROBE_SESSION, "FILE:PATTERN", inFile(UprobeMulti::entry));
        rows.openOrSleepable("usdt", KPROBE, null, "FILE:PROVIDER:NAME", null);
        rows.open("tracepoint", TRACEPOINT, null, "CATEGORY/NAME", SectionTargets.TRACEPOINT)
                .open("tp", TRACEPOINT, null, "CATEGORY/NAME", SectionTargets.TRACEPOINT);
        rows.open("raw_tracepoint", RAW_TRACEPOINT, null, "TRACEPOINT", named(RawTracepoint::of));
        rows.open("raw_tp", RAW_TRACEPOINT, null, "TRACEPOINT", named(RawTracepoint::of));
        rows.open("raw_tracepoint.w", RAW_TRACEPOINT_WRITABLE, null, "TRACEPOINT", named(RawTracepoint::of));
        rows.open("raw_tp.w", RAW_TRACEPOINT_WRITABLE, null, "TRACEPOINT", named(RawTracepoint::of));
        rows.open("tp_btf", TRACING, TRACE_RAW_TP, "TRACEPOINT", SectionTargets.TRACING);
        rows.openOrSleepable("fentry", TRACING, TRACE_FENTRY, "FUNCTION", SectionTargets.TRACING);
        rows.openOrSleepable("fexit", TRACING, TRACE_FEXIT, "FUNCTION", SectionTargets.TRACING);
        rows.openOrSleepable("fsession", TRACING, TRACE_FSESSION, "FUNCTION", SectionTargets.TRACING);
        Reader many = named(TracingMulti::of);
        rows.openOrSleepable("fentry.multi", TRACING, TRACE_FENTRY_MULTI, "[MODULE:]PATTERN", many);
        rows.openOrSleepable("fexit.multi", TRACING, TRACE_FEXIT_MULTI, "[MODULE:]PATTERN", many);
        rows.openOrSleepable("fsession.multi", TRACING, TRACE_FSESSION_MULTI, "[MODULE:]PATTERN", many);
        rows.openOrSleepable("fmod_ret", TRACING, MODIFY_RETURN, "FUNCTION", SectionTargets.TRACING);
        rows.openOrSleepable("iter", TRACING, TRACE_ITER, "ITERATOR", SectionTargets.ITER);
        rows.open("freplace", EXT, null, "FUNCTION", SectionTargets.TRACING);
        rows.openOrSleepable("lsm", LSM, LSM_MAC, "HOOK", SectionTargets.TRACING)
                .role("lsm_cgroup", LSM, AttachType.LSM_CGROUP, "HOOK");
        rows.exact("perf_event", ProgramType.PERF_EVENT, null);
        rows.exact("syscall", SYSCALL, null);

        // Networking
        rows.exact("socket", SOCKET_FILTER, null);
        rows.exact("sk_reuseport/migrate", SK_REUSEPORT, SK_REUSEPORT_SELECT_OR_MIGRATE);
        rows.exact("sk_reuseport", SK_REUSEPORT, SK_REUSEPORT_SELECT);
        rows.exact("tc", SCHED_CLS, null).exact("classifier", SCHED_CLS, null).exact("action", SCHED_ACT, null);
        rows.exact("tc/ingress", SCHED_CLS, TCX_INGRESS).exact("tc/egress", SCHED_CLS, TCX_EGRESS);
        rows.exact("tcx/ingress", SCHED_CLS, TCX_INGRESS).exact("tcx/egress", SCHED_CLS, TCX_EGRESS);
        rows.exact("netkit/primary", SCHED_CLS, NETKIT_PRIMARY).exact("netkit/peer", SCHED_CLS, NETKIT_PEER);
        rows.exactOrFrags("xdp", ProgramType.XDP, AttachType.XDP, "");
        rows.exactOrFrags("xdp", ProgramType.XDP, XDP_DEVMAP, "/devmap");
        rows.exactOrFrags("xdp", ProgramType.XDP, XDP_CPUMAP, "/cpumap");
        rows.exact("lwt_in", LWT_IN, null).exact("lwt_out", LWT_OUT, null).exact("lwt_xmit", LWT_XMIT, null);
        rows.exact("lwt_seg6local", LWT_SEG6LOCAL, null);
        rows.exact("sockops", SOCK_OPS, CGROUP_SOCK_OPS);
        rows.exact("sk_skb/stream_parser", SK_SKB, SK_SKB_STREAM_PARSER);
        rows.exact("sk_skb/stream_verdict", SK_SKB, SK_SKB_STREAM_VERDICT);
        rows.exact("sk_skb/verdict", SK_SKB, SK_SKB_VERDICT).exact("sk_skb", SK_SKB, null);
        rows.exact("sk_msg", SK_MSG, SK_MSG_VERDICT);
        rows.exact("sk_lookup", ProgramType.SK_LOOKUP, AttachType.SK_LOOKUP);
        rows.exact("netfilter", ProgramType.NETFILTER, AttachType.NETFILTER);
        rows.exact("flow_dissector", ProgramType.FLOW_DISSECTOR, AttachType.FLOW_DISSECTOR);
        rows.exact("lirc_mode2", ProgramType.LIRC_MODE2, AttachType.LIRC_MODE2);

        // Control groups
        rows.exact("cgroup_skb/ingress", CGROUP_SKB, CGROUP_INET_INGRESS);
        rows.exact("cgroup_skb/egress", CGROUP_SKB, CGROUP_INET_EGRESS).exact("cgroup/skb", CGROUP_SKB, null);
        rows.exact("cgroup/sock_create", CGROUP_SOCK, CGROUP_INET_SOCK_CREATE);
        rows.exact("cgroup/sock_release", CGROUP_SOCK, CGROUP_INET_SOCK_RELEASE);
        rows.exact("cgroup/sock", CGROUP_SOCK, CGROUP_INET_SOCK_CREATE);
        rows.exact("cgroup/post_bind4", CGROUP_SOCK, CGROUP_INET4_POST_BIND);
        rows.exact("cgroup/post_bind6", CGROUP_SOCK, CGROUP_INET6_POST_BIND);
        rows.exact("cgroup/bind4", CGROUP_SOCK_ADDR, CGROUP_INET4_BIND);
        rows.exact("cgroup/bind6", CGROUP_SOCK_ADDR, CGROUP_INET6_BIND);
        rows.exact("cgroup/connect4", CGROUP_SOCK_ADDR, CGROUP_INET4_CONNECT);
        rows.exact("cgroup/connect6", CGROUP_SOCK_ADDR, CGROUP_INET6_CONNECT);
        rows.exact("cgroup/connect_unix", CGROUP_SOCK_ADDR, CGROUP_UNIX_CONNECT);
        rows.exact("cgroup/sendmsg4", CGROUP_SOCK_ADDR, CGROUP_UDP4_SENDMSG);
        rows.exact("cgroup/sendmsg6", CGROUP_SOCK_ADDR, CGROUP_UDP6_SENDMSG);
        rows.exact("cgroup/sendmsg_unix", CGROUP_SOCK_ADDR, CGROUP_UNIX_SENDMSG);
        rows.exact("cgroup/recvmsg4", CGROUP_SOCK_ADDR, CGROUP_UDP4_RECVMSG);
        rows.exact("cgroup/recvmsg6", CGROUP_SOCK_ADDR, CGROUP_UDP6_RECVMSG);
        rows.exact("cgroup/recvmsg_unix", CGROUP_SOCK_ADDR, CGROUP_UNIX_RECVMSG);
        rows.exact("cgroup/getpeername4", CGROUP_SOCK_ADDR, CGROUP_INET4_GETPEERNAME);
        rows.exact("cgroup/getpeername6", CGROUP_SOCK_ADDR, CGROUP_INET6_GETPEERNAME);
        rows.exact("cgroup/getpeername_unix", CGROUP_SOCK_ADDR, CGROUP_UNIX_GETPEERNAME);
        rows.exact("cgroup/getsockname4", CGROUP_SOCK_ADDR, CGROUP_INET4_GETSOCKNAME);
        rows.exact("cgroup/getsockname6", CGROUP_SOCK_ADDR, CGROUP_INET6_GETSOCKNAME);
        rows.exact("cgroup/getsockname_unix", CGROUP_SOCK_ADDR, CGROUP_UNIX_GETSOCKNAME);
        rows.exact("cgroup/sysctl", ProgramType.CGROUP_SYSCTL, AttachType.CGROUP_SYSCTL);
        rows.exact("cgroup/getsockopt", CGROUP_SOCKOPT, CGROUP_GETSOCKOPT);
        rows.exact("cgroup/setsockopt", CGROUP_SOCKOPT, CGROUP_SETSOCKOPT);
        rows.exact("cgroup/dev", ProgramType.CGROUP_DEVICE, AttachType.CGROUP_DEVICE);

        rows.role("struct_ops", ProgramType.STRUCT_OPS, null, "MEMBER")
                .role("struct_ops.s", ProgramType.STRUCT_OPS, null, "MEMBER");
        return rows;
    }

    /**
     * Collects rows; the method of a row defines what may follow its name. The endings are libbpf's: {@code .s} for
     * programs that may sleep, as those of type syscall always may, and {@code .frags} for packets in several buffers.
     */
    private static final class Rows {
        final List<SectionKind> kinds = new ArrayList<>();
        final Map<String, Reader> readers = new HashMap<>();

        /** Without target. */
        Rows exact(String name, ProgramType type, @Nullable AttachType attachType) {
            return add(name, type, attachType, Target.NONE, "");
        }

        /** Two kinds, the second with {@code .frags}. */
        Rows exactOrFrags(String name, ProgramType type, @Nullable AttachType attachType, String suffix) {
            return exact(name + suffix, type, attachType).exact(name + ".frags" + suffix, type, attachType);
        }

        /** With an optional role, not a place to attach to. */
        Rows role(String name, ProgramType type, @Nullable AttachType attachType, String form) {
            return add(name, type, attachType, Target.ROLE, form);
        }

        /** With an optional place to attach to, and its reader; null if another module attaches the kind. */
        Rows open(
                String name, ProgramType type, @Nullable AttachType attachType, String form, @Nullable Reader reader) {
            if (reader != null) {
                readers.put(name, reader);
            }
            return add(name, type, attachType, Target.PLACE, form);
        }

        /** Two kinds, the second with {@code .s}. */
        Rows openOrSleepable(
                String name, ProgramType type, @Nullable AttachType attachType, String form, @Nullable Reader reader) {
            return open(name, type, attachType, form, reader).open(name + ".s", type, attachType, form, reader);
        }

        private Rows add(String name, ProgramType type, @Nullable AttachType attachType, Target target, String form) {
            boolean sleepable = name.endsWith(".s") || type == SYSCALL;
            boolean frags = name.contains(".frags");
            kinds.add(new SectionKind(name, type, Optional.ofNullable(attachType), target, form, sleepable, frags));
            return this;
        }
    }
}
