package io.bpf4j.loader.internal.sys;

import io.bpf4j.loader.kernel.ProgramType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The capabilities that the kernel wants for a command of bpf(2), as far as it tells them apart (kernel/bpf/syscall.c:
 * bpf_prog_load() with is_net_admin_prog_type() and is_perfmon_prog_type(); since 5.8, commit
 * 2c78ee898d8f "bpf: Implement CAP_BPF"). CAP_SYS_ADMIN stands in for each. <i>Immutable.</i>
 */
enum NeededRights {
    CAP_BPF(ProcessRights.CAP_BPF, "BPF"),
    CAP_PERFMON(ProcessRights.CAP_PERFMON, "tracing"),
    CAP_NET_ADMIN(ProcessRights.CAP_NET_ADMIN, "a program of this kind");

    private final int capability;
    private final String purpose;

    NeededRights(int capability, String purpose) {
        this.capability = capability;
        this.purpose = purpose;
    }

    /** What it is needed for, as the subject of a sentence. */
    String purpose() {
        return purpose;
    }

    /** The first that a command needs and the process does not have. */
    static Optional<NeededRights> missing(Command<?> command, ProcessRights rights) {
        return of(command).stream()
                .filter(needed -> !rights.has(needed.capability))
                .findFirst();
    }

    private static List<NeededRights> of(Command<?> command) {
        return switch (command) {
            case ProgCommand.Load load -> ofProgram(load.type());
            case TokenCommand.Load with -> ofProgram(with.program().type());
            default -> List.of(CAP_BPF, CAP_PERFMON);
        };
    }

    private static List<NeededRights> ofProgram(int number) {
        List<NeededRights> needed = new ArrayList<>(List.of(CAP_BPF));
        ProgramType type = ProgramType.of(number).orElse(ProgramType.UNSPEC);
        boolean tracing = switch (type) {
            case KPROBE, TRACEPOINT, PERF_EVENT, RAW_TRACEPOINT, RAW_TRACEPOINT_WRITABLE -> true;
            case TRACING, LSM, STRUCT_OPS, EXT, UNSPEC -> true;
            case SOCKET_FILTER, SCHED_CLS, SCHED_ACT, XDP, CGROUP_SKB, CGROUP_SOCK, LWT_IN, LWT_OUT -> false;
            case LWT_XMIT, SOCK_OPS, SK_SKB, CGROUP_DEVICE, SK_MSG, CGROUP_SOCK_ADDR, LWT_SEG6LOCAL -> false;
            case LIRC_MODE2, SK_REUSEPORT, FLOW_DISSECTOR, CGROUP_SYSCTL, CGROUP_SOCKOPT, SK_LOOKUP -> false;
            case SYSCALL, NETFILTER -> false;
        };
        boolean network = switch (type) {
            case SCHED_CLS, SCHED_ACT, XDP, LWT_IN, LWT_OUT, LWT_XMIT, LWT_SEG6LOCAL, SK_SKB, SK_MSG -> true;
            case FLOW_DISSECTOR, CGROUP_DEVICE, CGROUP_SOCK, CGROUP_SOCK_ADDR, CGROUP_SOCKOPT -> true;
            case CGROUP_SYSCTL, SOCK_OPS, LIRC_MODE2, EXT, NETFILTER -> true;
            case UNSPEC, SOCKET_FILTER, KPROBE, TRACEPOINT, PERF_EVENT, CGROUP_SKB, RAW_TRACEPOINT -> false;
            case SK_REUSEPORT, RAW_TRACEPOINT_WRITABLE, TRACING, STRUCT_OPS, LSM -> false;
            case SK_LOOKUP, SYSCALL -> false;
        };
        if (tracing) {
            needed.add(CAP_PERFMON);
        }
        if (network) {
            needed.add(CAP_NET_ADMIN);
        }
        return needed;
    }
}
