package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.link.ProgramHandle;

/** What stands behind a public program. */
final class Programs {
    private Programs() {}

    /**
     * Its descriptor, which stays its own.
     *
     * @throws IllegalArgumentException if it is none of bpf4j's
     */
    static Fd fd(ProgramHandle program) {
        return program.unwrap(Fd.class)
                .orElseThrow(() -> new IllegalArgumentException("program \"" + program.name()
                        + "\" is not a program of the kernel but a "
                        + program.getClass().getName()));
    }
}
