package io.bpf4j.loader.feature;

import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import java.util.Optional;

/**
 * Whether the kernel has a feature, and the evidence. <i>Immutable.</i>
 *
 * <p>There are three results. Without the rights to probe, the kernel returns the same error for features that it has
 * and that it lacks, so EPERM means unknown. Code that takes EPERM for "absent" works around a feature that exists, or
 * reports the wrong cause.
 */
public sealed interface Support {
    /** The evidence in a few words: the probe and the kernel's answer. */
    String reason();

    /** The feature was tried, and works. */
    record Present(String reason) implements Support {}

    /** The kernel does not know the feature, or the caller disabled it. */
    record Absent(String reason) implements Support {}

    /**
     * The kernel could not be probed: it may have the feature.
     *
     * @param call the probing call, such as {@code bpf(BPF_PROG_LOAD) for program "probe"}
     * @param errnoNumber the kernel's error number
     * @param remedy what the probe needs, such as a capability, as the end of a sentence
     */
    record Unknown(String call, int errnoNumber, Optional<String> remedy) implements Support {
        @Override
        public String reason() {
            return call + " failed: " + Errno.describe(errnoNumber)
                    + remedy.map(text -> ": " + text).orElse("");
        }

        public Errno errno() {
            return Errno.of(errnoNumber);
        }

        /** For callers that need a result: the failed probe as the failure of the operation that needed it. */
        public SyscallException failure(String operation) {
            return new SyscallException(operation + ": " + call, errnoNumber, remedy.orElse(null));
        }
    }
}
