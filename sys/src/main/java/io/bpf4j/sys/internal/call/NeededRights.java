package io.bpf4j.sys.internal.call;

import static io.bpf4j.sys.internal.call.Capability.CAP_BPF;
import static io.bpf4j.sys.internal.call.Capability.CAP_NET_ADMIN;
import static io.bpf4j.sys.internal.call.Capability.CAP_SYS_ADMIN;

import io.bpf4j.sys.kernel.ProgramType;
import java.util.List;

/**
 * The capabilities that the kernel requires for a command of bpf(2) (kernel/bpf/syscall.c: map_create(),
 * bpf_get_fd_by_id; since 5.8, commit 2c78ee898d8f "bpf: Implement CAP_BPF").
 *
 * <p>Tested by {@code FailureHintsTest}.
 */
final class NeededRights {
    private NeededRights() {}

    static List<Capability> of(Command<?> command) {
        return switch (command) {
            case ProgCommand.Load load ->
                ProgramTraits.of(ProgramType.of(load.type()).orElse(ProgramType.UNSPEC))
                        .rights();
            case MapCommand.Create create ->
                MapTraits.of(create.type()).has(MapTraits.Trait.NEEDS_NET_ADMIN)
                        ? List.of(CAP_BPF, CAP_NET_ADMIN)
                        : List.of(CAP_BPF);
            case TokenCommand.With<?> with -> of(with.command());
            // bpf_prog_query(): bpf_net_capable().
            case LinkCommand.Query _ -> List.of(CAP_NET_ADMIN);
            case ProgCommand.EnableStats _, LinkCommand.TaskFdQuery _, ObjectCommand.NextId _, ObjectCommand.FdById _ ->
                List.of(CAP_SYS_ADMIN);
            default -> List.of(CAP_BPF);
        };
    }
}
