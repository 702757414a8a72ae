package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.OpenFile;
import java.util.List;
import java.util.function.Function;

/**
 * Single uprobes and kprobes, tracepoints and other perf events; {@link PerfAttacher} attaches them.
 *
 * <p>Tested by {@code KernelLinkTest} and {@code LinkTargetGoldenTest}.
 */
record PerfKind(Function<Attempt, Link> attaching, Function<Errno, String> meaning) implements LinkKind {
    static LinkKind of(AttachTarget.Uprobe target, PerfAttacher perf, FunctionSites functions) {
        return new PerfKind(
                attempt -> {
                    if (target.function().isEmpty()) {
                        return perf.uprobe(attempt, target.file(), target.offset(), target);
                    }
                    FunctionSites.Places place = functions.each(
                            attempt.what(),
                            target.file().path(),
                            List.of(target.function().get()));
                    try (OpenFile file = place.open(attempt)) {
                        return perf.uprobe(attempt, file, place.offsets()[0] + target.offset(), target);
                    }
                },
                UprobeMultiKind::refusalOfUprobe);
    }

    static LinkKind of(AttachTarget.Kprobe target, PerfAttacher perf) {
        return new PerfKind(
                attempt -> perf.kprobe(attempt, target.function(), target.offset(), target.returns(), target.cookie()),
                PerfKind::refusalOfKprobe);
    }

    static LinkKind of(AttachTarget.Ksyscall target, PerfAttacher perf) {
        return new PerfKind(
                attempt ->
                        perf.kprobe(attempt, systemCall(attempt, target.name()), 0, target.returns(), target.cookie()),
                PerfKind::refusalOfKprobe);
    }

    /** ENOTTY comes from the ioctl that replaces a link before 5.15. */
    static LinkKind of(AttachTarget.OpenPerfEvent target, PerfAttacher perf) {
        return new PerfKind(attempt -> perf.openEvent(attempt, target), errno -> switch (errno) {
            case EBADF, EINVAL, ENOTTY -> "; the descriptor is no perf event";
            default -> "";
        });
    }

    @Override
    public Link attach(Attempt attempt) {
        return attaching.apply(attempt);
    }

    @Override
    public String refusal(Errno errno) {
        return meaning.apply(errno);
    }

    static String refusalOfKprobe(Errno errno) {
        return switch (errno) {
            case ENOENT, ESRCH -> "; this kernel has no function of such a name that can be traced";
            case EINVAL, EOPNOTSUPP, EILSEQ -> "; the function can't be probed, or not there";
            default -> "";
        };
    }

    /**
     * The function that implements a system call. If calls go through a wrapper with pt_regs (4.17), its name contains
     * the architecture (SYSCALL_DEFINE in arch/*&#47;include/asm/syscall_wrapper.h); powerpc and loongarch have none.
     */
    private static String systemCall(Attempt attempt, String name) {
        String os = System.getProperty("os.arch", "");
        if (attempt.features().lacks(Feature.SYSCALL_WRAPPER)) {
            return "__se_sys_" + name;
        }
        return switch (os) {
            case "amd64", "x86_64" -> "__x64_sys_" + name;
            case "aarch64" -> "__arm64_sys_" + name;
            case "s390x" -> "__s390x_sys_" + name;
            case "riscv64" -> "__riscv_sys_" + name;
            default -> throw attempt.refused("it is not known how system calls are wrapped on " + os);
        };
    }
}
