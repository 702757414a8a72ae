package io.bpf4j.sys.internal.call;

import static io.bpf4j.sys.internal.call.Capability.CAP_BPF;
import static io.bpf4j.sys.internal.call.Capability.CAP_NET_ADMIN;
import static io.bpf4j.sys.internal.call.Capability.CAP_PERFMON;

import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The table of program types: what kernels require of a program of each type. <i>Immutable.</i>
 *
 * <p>Tested by {@code FailureHintsTest}, {@code FeaturesOnKernelTest} and {@code CorpusTest}.
 *
 * @param rights to load one (kernel/bpf/syscall.c: bpf_prog_load() with is_net_admin_prog_type() and
 *     is_perfmon_prog_type(); since 5.8, commit 2c78ee898d8f "bpf: Implement CAP_BPF")
 * @param context the struct whose name identifies the context to the verifier: the third column of BPF_PROG_TYPE in the
 *     kernel's include/linux/bpf_types.h; empty if the context is not a struct, or is the arguments of a function
 * @param attachType one with which every kernel loads the type; empty if it loads without
 * @param onlyAttachType the attach type of all programs of the type; empty if they have none, or one of several
 * @param feature the feature that introduced the type; empty for types that every supported kernel has, or that have no
 *     feature
 */
public record ProgramTraits(
        List<Capability> rights,
        Optional<String> context,
        Optional<AttachType> attachType,
        Optional<AttachType> onlyAttachType,
        Optional<Feature> feature) {
    private static final List<Capability> ANY = List.of(CAP_BPF);
    private static final List<Capability> TRACING = List.of(CAP_BPF, CAP_PERFMON);
    private static final List<Capability> NETWORK = List.of(CAP_BPF, CAP_NET_ADMIN);
    private static final List<Capability> ALL = List.of(CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN);

    /** The properties of a type. */
    public static ProgramTraits of(ProgramType type) {
        return switch (type) {
            case SOCKET_FILTER, CGROUP_SKB -> row(ANY, "__sk_buff");
            case SK_REUSEPORT -> row(ANY, "sk_reuseport_md");
            case SK_LOOKUP ->
                row(ANY, "bpf_sk_lookup").with(AttachType.SK_LOOKUP).only(AttachType.SK_LOOKUP);
            case SYSCALL -> row(ANY, null);
            case KPROBE -> row(TRACING, "bpf_user_pt_regs_t");
            case PERF_EVENT -> row(TRACING, "bpf_perf_event_data");
            case RAW_TRACEPOINT -> row(TRACING, "bpf_raw_tracepoint_args").since(Feature.RAW_TRACEPOINT);
            case RAW_TRACEPOINT_WRITABLE -> row(TRACING, "bpf_raw_tracepoint_args");
            case UNSPEC, TRACEPOINT, TRACING, LSM, STRUCT_OPS -> row(TRACING, null);
            case EXT -> row(ALL, null);
            case SCHED_CLS, SCHED_ACT, SK_SKB -> row(NETWORK, "__sk_buff");
            case FLOW_DISSECTOR -> row(NETWORK, "__sk_buff").only(AttachType.FLOW_DISSECTOR);
            case LWT_IN, LWT_OUT, LWT_XMIT, LWT_SEG6LOCAL -> row(NETWORK, "__sk_buff");
            case XDP -> row(NETWORK, "xdp_md");
            case SK_MSG -> row(NETWORK, "sk_msg_md").only(AttachType.SK_MSG_VERDICT);
            case SOCK_OPS -> row(NETWORK, "bpf_sock_ops").only(AttachType.CGROUP_SOCK_OPS);
            case CGROUP_SOCK -> row(NETWORK, "bpf_sock");
            case CGROUP_SOCK_ADDR -> row(NETWORK, "bpf_sock_addr").with(AttachType.CGROUP_INET4_CONNECT);
            case CGROUP_SOCKOPT -> row(NETWORK, "bpf_sockopt").with(AttachType.CGROUP_SETSOCKOPT);
            case CGROUP_SYSCTL -> row(NETWORK, "bpf_sysctl").only(AttachType.CGROUP_SYSCTL);
            case CGROUP_DEVICE -> row(NETWORK, "bpf_cgroup_dev_ctx").only(AttachType.CGROUP_DEVICE);
            case NETFILTER ->
                row(NETWORK, "bpf_nf_ctx").with(AttachType.NETFILTER).only(AttachType.NETFILTER);
            case LIRC_MODE2 -> row(NETWORK, null).only(AttachType.LIRC_MODE2);
        };
    }

    private static ProgramTraits row(List<Capability> rights, @Nullable String context) {
        return new ProgramTraits(
                rights, Optional.ofNullable(context), Optional.empty(), Optional.empty(), Optional.empty());
    }

    private ProgramTraits with(AttachType type) {
        return new ProgramTraits(rights, context, Optional.of(type), onlyAttachType, feature);
    }

    private ProgramTraits only(AttachType type) {
        return new ProgramTraits(rights, context, attachType, Optional.of(type), feature);
    }

    private ProgramTraits since(Feature newFeature) {
        return new ProgramTraits(rights, context, attachType, onlyAttachType, Optional.of(newFeature));
    }
}
