package io.bpf4j.loader.error;

import io.bpf4j.loader.kernel.Errno;

/**
 * The kernel's verifier refused a program. The message says where and, for common reasons, what to do, has the last
 * useful lines of its log, and says how many lines it left out; {@link #log()} has all of them. <i>Immutable.</i>
 */
public final class VerifierException extends BpfException {
    private static final long serialVersionUID = 1L;

    private final String program;
    private final int errnoNumber;
    private final String log;
    private final String place;

    /**
     * A refused program.
     *
     * @param program the program's name
     * @param errnoNumber what bpf(2) said; EACCES and EINVAL are the usual ones
     * @param log the whole log, or as much as there was room for, with a line that says so; may be empty
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
        this(program, errnoNumber, log, advice, "");
    }

    /**
     * The same, with the place that the refusal is about.
     *
     * @param place an instruction and its source line; may be empty
     */
    public VerifierException(String program, int errnoNumber, String log, String advice, String place) {
        super("load program \"" + program + "\": " + Errno.describe(errnoNumber)
                + (advice.isEmpty() ? "" : ": " + VerifierLogTail.printable(advice))
                + (place.isEmpty() ? "" : VerifierLogTail.BREAK + "at " + VerifierLogTail.printable(place))
                + VerifierLogTail.of(log));
        this.program = program;
        this.errnoNumber = errnoNumber;
        this.log = log;
        this.place = place;
    }

    public String program() {
        return program;
    }

    public Errno errno() {
        return Errno.of(errnoNumber);
    }

    /**
     * The verifier's log, lines ending in {@code \n}; empty if the kernel gave none. All of it up to 64 MiB (or an eighth of
     * the heap, if that is less), and what is longer as far as there is room: its end since Linux 6.4, and before that its
     * beginning and the reason. A line says how much is missing; to get more, ask for the log before the load.
     */
    public String log() {
        return log;
    }

    /**
     * The instruction that was refused, as {@code instruction 8 of on_gc (gc.bpf.c:46: *value = 1;)}; without what is in
     * parentheses if the object has no line information, and empty if the log names no instruction.
     */
    public String place() {
        return place;
    }
}
