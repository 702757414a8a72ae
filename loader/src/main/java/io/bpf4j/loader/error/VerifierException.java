package io.bpf4j.loader.error;

import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.kernel.Errno;

/**
 * The kernel's verifier refused a program. The message has the place, advice for common reasons, the last useful lines
 * of the verifier log, and the number of lines left out; {@link #log()} returns the whole log. <i>Immutable.</i>
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
     * @param errnoNumber error number of bpf(2), usually EACCES or EINVAL
     * @param log the whole log, or a shortened one with a line that says so; may be empty
     */
    public VerifierException(String program, int errnoNumber, String log) {
        this(program, errnoNumber, log, "", "");
    }

    /**
     * A refused program, with the place of the refusal.
     *
     * @param advice information beyond the log, such as a relocation without target; may be empty
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
     * The verifier log, lines ending in {@code \n}; empty if the kernel returned none. A log of more than 64 MiB (or an
     * eighth of the heap, if that is less) is shortened: since Linux 6.4 to its end, on older kernels to its beginning
     * and the reason. A line says how much is missing; to get more, request the log before the load.
     */
    public String log() {
        return log;
    }

    /**
     * The instruction that was refused, as {@code instruction 8 of on_gc (gc.bpf.c:46: *value = 1;)}; without the part
     * in parentheses if the object has no line information, and empty if the log names no instruction.
     */
    public String place() {
        return place;
    }
}
