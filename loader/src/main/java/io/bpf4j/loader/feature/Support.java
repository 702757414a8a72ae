package io.bpf4j.loader.feature;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.kernel.Errno;
import java.util.Optional;

/**
 * Whether a feature is there, and how that was found out. <i>Immutable.</i>
 *
 * <p>There are three answers. Without the rights to ask, the kernel says the same of what it has and of what it lacks:
 * that this process may not. Who takes that for "no" works around a lack that isn't one, or blames the kernel for it.
 */
public sealed interface Support {
    /** How that shows, in a few words: what was tried and what the kernel said. */
    String reason();

    /** The feature was tried, and works. */
    record Present(String reason) implements Support {}

    /** The kernel does not know the feature, or the caller took it away. */
    record Absent(String reason) implements Support {}

    /**
     * The kernel could not be asked: it may have the feature.
     *
     * @param call what was asked, such as {@code bpf(BPF_PROG_LOAD) for program "probe"}
     * @param errnoNumber what the kernel said to it
     * @param remedy what is missing for an answer, a capability for instance, as the end of a sentence
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

        /** For who can't go on without an answer: the failure to get one, told as that of what needed it. */
        public SyscallException failure(String what) {
            return new SyscallException(what + ": " + call, errnoNumber, remedy.orElse(null));
        }
    }

    static Support yes(String reason) {
        return new Present(reason);
    }

    static Support no(String reason) {
        return new Absent(reason);
    }

    /** What a refused call says about a feature, where the kernel refused the question. */
    static Support unknown(SyscallException refused) {
        return new Unknown(refused.call(), refused.errnoNumber(), refused.hint());
    }
}
