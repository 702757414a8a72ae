package io.bpf4j.loader.internal.attach;

import io.bpf4j.btf.BtfKind;
import io.bpf4j.loader.internal.linux.ProgramBtf;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;

/**
 * Attaches to what programs were loaded for, and to functions of other programs.
 *
 * <p>The kernel has two commands for it. BPF_RAW_TRACEPOINT_OPEN is the older one, and the one that raw tracepoints take
 * to this day; BPF_LINK_CREATE (5.10 for freplace, 5.19 for the others) can carry a cookie and a target.
 */
final class TracingAttacher {
    private TracingAttacher() {}

    static Link rawTracepoint(Attempt attempt, AttachTarget.RawTracepoint target) {
        return open(attempt, target.name(), target.cookie());
    }

    static Link tracing(Attempt attempt, AttachTarget.Tracing target) {
        AttachType type = attempt.attachType().orElse(AttachType.TRACE_RAW_TP);
        if (target.cookie() == 0 || type == AttachType.TRACE_RAW_TP) {
            return open(attempt, "", target.cookie());
        }
        return KernelLink.of(
                attempt, attempt.execute(attempt.create(type, new LinkCommand.Details.Tracing(0, target.cookie()))));
    }

    private static Link open(Attempt attempt, String name, long cookie) {
        return KernelLink.of(
                attempt, attempt.execute(new LinkCommand.OpenRawTracepoint(name, attempt.program(), cookie)));
    }

    static Link freplace(Attempt attempt, AttachTarget.Freplace target) {
        Fd other = Programs.fd(target.target());
        int function = functionId(attempt, other, target.function());
        // A program of this type has no attach type, which the kernel writes as 0.
        LinkCommand.Create create = new LinkCommand.Create(
                attempt.what(), attempt.program(), other, 0, 0, 0, new LinkCommand.Details.Tracing(function, 0));
        return KernelLink.of(attempt, attempt.execute(create));
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
