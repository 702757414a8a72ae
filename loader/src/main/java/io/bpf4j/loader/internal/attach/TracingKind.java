package io.bpf4j.loader.internal.attach;

import io.bpf4j.btf.BtfKind;
import io.bpf4j.loader.internal.linux.ProgramBtf;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.internal.sys.StructLayout;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import java.util.Optional;

/**
 * Targets that programs were loaded for, raw tracepoints, and functions of other programs.
 *
 * <p>The kernel has two commands for them. BPF_RAW_TRACEPOINT_OPEN is the older one, and raw tracepoints still use it;
 * BPF_LINK_CREATE (5.10 for freplace, 5.19 for the others) can carry a cookie and a target.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code KernelFunctionsOnKernelTest}.
 */
final class TracingKind {
    private static final StructLayout CREATE =
            StructLayout.of("bpf_attr.link_create.tracing", "u32 target_btf_id; u64 cookie");

    private TracingKind() {}

    static Link raw(Attempt attempt, AttachTarget.RawTracepoint target) {
        return open(attempt, target.name(), target.cookie());
    }

    static Link asLoaded(Attempt attempt, AttachTarget.Tracing target) {
        if (target.cookie() == 0) {
            return open(attempt, "", 0);
        }
        // Given a cookie for fentry, the older command would drop it in silence.
        AttachType type = attempt.type(Optional.empty(), "fentry or tp_btf");
        return type == AttachType.TRACE_RAW_TP
                ? open(attempt, "", target.cookie())
                : attempt.link(attempt.create(type, LinkCommand.Details.of(CREATE, 0, target.cookie())));
    }

    private static Link open(Attempt attempt, String name, long cookie) {
        return KernelLink.of(
                attempt, attempt.execute(new LinkCommand.OpenRawTracepoint(name, attempt.program(), cookie)));
    }

    /** A function of another program. */
    static Link freplace(Attempt attempt, AttachTarget.Freplace target) {
        Fd other = Attempt.fd(target.program());
        int function = functionId(attempt, other, target.function());
        // A program of this type has no attach type, which the kernel writes as 0.
        LinkCommand.Details details = LinkCommand.Details.of(CREATE, function);
        return attempt.link(LinkCommand.Create.of(attempt.what(), attempt.program(), 0, details)
                .withTarget(other));
    }

    /** The id of a function's type in the BTF that a program was loaded with. */
    private static int functionId(Attempt attempt, Fd program, String function) {
        return ProgramBtf.of(attempt.kernel(), program)
                .orElseThrow(() ->
                        attempt.refused(program.what() + " was loaded without BTF, which says where its functions are"))
                .find(function, BtfKind.FUNC)
                .orElseThrow(() -> attempt.refused(program.what() + " has no function \"" + function + "\""));
    }
}
