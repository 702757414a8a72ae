package io.bpf4j.sys.internal.call;

import static io.bpf4j.sys.kernel.Capability.CAP_BPF;
import static io.bpf4j.sys.kernel.Capability.CAP_NET_ADMIN;
import static io.bpf4j.sys.kernel.Capability.CAP_PERFMON;
import static io.bpf4j.sys.kernel.Capability.CAP_SYS_ADMIN;

import io.bpf4j.sys.kernel.Capability;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.List;

/**
 * The capabilities that the kernel requires for a command of bpf(2) (kernel/bpf/syscall.c: map_create(),
 * bpf_prog_load() with is_net_admin_prog_type() and is_perfmon_prog_type(), bpf_get_fd_by_id; since 5.8, commit
 * 2c78ee898d8f "bpf: Implement CAP_BPF").
 *
 * <p>Tested by {@code FailureHintsTest}.
 */
final class NeededRights {
    private NeededRights() {}

    static List<Capability> of(Command<?> command) {
        return switch (command) {
            case ProgCommand.Load load -> ofProgram(load.type());
            case MapCommand.Create create ->
                MapTraits.of(create.type()).has(MapTraits.Trait.NEEDS_NET_ADMIN)
                        ? List.of(CAP_BPF, CAP_NET_ADMIN)
                        : List.of(CAP_BPF);
            case TokenCommand.With<?> with -> of(with.command());
            case ProgCommand.EnableStats _, ObjectCommand.NextId _, ObjectCommand.FdById _ -> List.of(CAP_SYS_ADMIN);
            default -> List.of(CAP_BPF);
        };
    }

    private static List<Capability> ofProgram(int number) {
        return switch (ProgramType.of(number).orElse(ProgramType.UNSPEC)) {
            case SOCKET_FILTER, CGROUP_SKB, SK_REUSEPORT, SK_LOOKUP, SYSCALL -> List.of(CAP_BPF);
            case KPROBE, TRACEPOINT, PERF_EVENT, RAW_TRACEPOINT, RAW_TRACEPOINT_WRITABLE, TRACING, LSM, STRUCT_OPS ->
                List.of(CAP_BPF, CAP_PERFMON);
            case UNSPEC -> List.of(CAP_BPF, CAP_PERFMON);
            case EXT -> List.of(CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN);
            case SCHED_CLS, SCHED_ACT, XDP, LWT_IN, LWT_OUT, LWT_XMIT, LWT_SEG6LOCAL, SK_SKB, SK_MSG, SOCK_OPS ->
                List.of(CAP_BPF, CAP_NET_ADMIN);
            case FLOW_DISSECTOR, CGROUP_DEVICE, CGROUP_SOCK, CGROUP_SOCK_ADDR, CGROUP_SOCKOPT, CGROUP_SYSCTL ->
                List.of(CAP_BPF, CAP_NET_ADMIN);
            case LIRC_MODE2, NETFILTER -> List.of(CAP_BPF, CAP_NET_ADMIN);
        };
    }
}
