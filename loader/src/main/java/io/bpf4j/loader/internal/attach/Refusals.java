package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.link.AttachTarget;
import java.util.Objects;
import java.util.Optional;

/** What usually stands behind the kernel's refusal to attach. */
final class Refusals {
    private Refusals() {}

    /** The kernel's words, and what is known beyond them about a target. */
    static String explained(
            SyscallException failure, AttachTarget target, Optional<AttachType> attachType, Features features) {
        String words = Objects.requireNonNullElse(failure.getMessage(), failure.call());
        String why = switch (target) {
            case AttachTarget.Uprobe _,
                    AttachTarget.UprobeFunction _,
                    AttachTarget.UprobeMulti _,
                    AttachTarget.UprobeMultiFunctions _ -> uprobe(failure.errno());
            case AttachTarget.Kprobe _,
                    AttachTarget.Tracepoint _,
                    AttachTarget.RawTracepoint _,
                    AttachTarget.Tracing _ -> "";
        };
        return words + why + missing(failure, attachType, features);
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

    /** The kernel says EINVAL to what it doesn't know; only then is it worth asking whether it knows this. */
    private static String missing(SyscallException failure, Optional<AttachType> attachType, Features features) {
        if (failure.errno() != Errno.EINVAL || attachType.isEmpty()) {
            return "";
        }
        return switch (attachType.get()) {
            case TRACE_UPROBE_MULTI -> missing(Feature.UPROBE_MULTI_LINK, features);
            case TRACE_UPROBE_SESSION -> missing(Feature.UPROBE_SESSION, features);
            case TRACE_KPROBE_MULTI -> missing(Feature.KPROBE_MULTI_LINK, features);
            default -> "";
        };
    }

    private static String missing(Feature feature, Features features) {
        return features.has(feature)
                ? ""
                : "; this kernel does not have " + feature.description() + " (requires Linux >= " + feature.since()
                        + ")";
    }
}
