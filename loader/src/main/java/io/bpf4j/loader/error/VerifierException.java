package io.bpf4j.loader.error;

import io.bpf4j.loader.kernel.Errno;

/**
 * The kernel's verifier refused a program. The message has the last useful lines of its log and says how many lines it
 * left out; {@link #log()} has all of them. <i>Immutable.</i>
 */
public final class VerifierException extends BpfException {
    private static final long serialVersionUID = 1L;

    private final String program;
    private final int errnoNumber;
    private final String log;

    /**
     * A refused program.
     *
     * @param program the program's name
     * @param errnoNumber what bpf(2) said; EACCES and EINVAL are the usual ones
     * @param log the whole log, or as much as there was room for; may be empty
     */
    public VerifierException(String program, int errnoNumber, String log) {
        this(program, errnoNumber, log, "");
    }

    /**
     * The same, with advice.
     *
     * @param advice what the loader knows beyond the log, such as a relocation that found nothing; may be empty
     */
    public VerifierException(String program, int errnoNumber, String log, String advice) {
        super("load program \"" + program + "\": " + Errno.describe(errnoNumber)
                + (advice.isEmpty() ? "" : ": " + advice)
                + VerifierLogTail.of(log));
        this.program = program;
        this.errnoNumber = errnoNumber;
        this.log = log;
    }

    public String program() {
        return program;
    }

    public Errno errno() {
        return Errno.of(errnoNumber);
    }

    /** The verifier's log, lines ending in {@code \n}; empty if the kernel gave none. */
    public String log() {
        return log;
    }
}
