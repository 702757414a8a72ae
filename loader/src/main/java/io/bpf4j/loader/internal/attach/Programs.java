package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.link.ProgramHandle;

/** The implementation of a public program. */
final class Programs {
    private Programs() {}

    /**
     * Its file descriptor; the program closes it.
     *
     * @throws IllegalArgumentException if it is not an implementation of bpf4j
     */
    static Fd fd(ProgramHandle program) {
        return program.unwrap(Fd.class)
                .orElseThrow(() -> new IllegalArgumentException("program \"" + program.name()
                        + "\" is not a program of the kernel but a "
                        + program.getClass().getName()));
    }
}
