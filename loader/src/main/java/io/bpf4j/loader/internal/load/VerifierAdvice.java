package io.bpf4j.loader.internal.load;

import io.bpf4j.insn.Helper;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Advice for the most common verdicts of the verifier, found by their text.
 *
 * <p>The texts are those of {@code verbose(…)} in kernel/bpf/verifier.c, Linux 5.10 to 6.18. They are not a stable
 * interface: if a kernel changes them, the log is reported without advice.
 *
 * <p>Tested by {@code VerifierRefusalTest} and {@code VerdictsOnKernelTest}.
 */
final class VerifierAdvice {
    /** Verdicts are at the end, before the statistics. */
    private static final int TAIL_CHARACTERS = 2_000;

    /**
     * A verdict and its advice.
     *
     * @param advice built from the match and the name of the program's type
     */
    private record Entry(Pattern verdict, BiFunction<Matcher, String, String> advice) {
        Entry(String verdict, String advice) {
            this(verdict, (_, _) -> advice);
        }

        Entry(String verdict, BiFunction<Matcher, String, String> advice) {
            this(Pattern.compile(verdict), advice);
        }
    }

    /** The first match is used. */
    private static final List<Entry> ENTRIES = List.of(
            new Entry(
                    "invalid mem access '\\w*_or_null'|Possibly NULL pointer passed",
                    "the pointer may be NULL here; compare it with NULL before it is used"),
            new Entry(
                    "invalid mem access '(?:scalar|inv)'",
                    "the verifier treats this as a number, not as a pointer; read kernel memory with"
                            + " bpf_probe_read_kernel, memory of a process with bpf_probe_read_user"),
            new Entry(
                    "unbounded memory access|min value is negative|max value is outside of the",
                    "the verifier does not know the bounds of an index or a size; compare it with its bounds, or mask"
                            + " it (index & (SIZE - 1))"),
            new Entry(
                    "hash doesn't match map's excl_prog_hash",
                    "it uses a map that is exclusive to another program (MapSpec.withExclusiveProgram)"),
            new Entry(
                    "invalid access to packet",
                    "compare the end of the bytes to read with the end of the packet before the read"),
            new Entry(
                    "invalid access to map value|invalid access to memory",
                    "the access is not entirely within the value"),
            new Entry(
                    "invalid bpf_context access",
                    (_, type) -> "programs of type " + type + " can't read or write their context there"),
            new Entry(
                    "R0 !read_ok",
                    "on some path the function returns no value: return one there, or initialise the variable"),
            new Entry(
                    "R\\d+ !read_ok",
                    "the register has no value on this path: a variable is not initialised, or a call has overwritten"
                            + " r1 to r5"),
            new Entry(
                    "infinite loop detected|back-edge from insn",
                    "the verifier can't prove that this loop ends; count up to a constant, or use bpf_loop (Linux"
                            + " 5.17). Before Linux 5.3 loops have to be unrolled"),
            new Entry(
                    "BPF program is too large|The sequence of \\d+ jumps is too complex",
                    "the program has more paths, or longer ones, than the verifier follows; make loops shorter, use"
                            + " bpf_loop (Linux 5.17), or move code into functions that are not static, which are"
                            + " verified once each"),
            new Entry(
                    "combined stack size|stack depth \\d+ exceeds|exceeds the stack limit|stack size.*Too large",
                    "a function and all functions that it calls share 512 bytes of stack; keep larger data in a map,"
                            + " such as an array with one element per CPU"),
            new Entry(
                    "[uU]nreleased reference",
                    "a reference that was acquired (a record of a ring buffer, a socket, a task) must be released on"
                            + " every path"),
            new Entry(
                    "cannot call GPL",
                    "the object's license is not compatible with the GPL; if the GPL applies, declare it: char"
                            + " LICENSE[] SEC(\"license\") = \"GPL\""),
            new Entry(
                    "invalid func \\w+#(\\d{1,9})",
                    (found, _) -> "this kernel has no helper " + helper(Integer.parseInt(found.group(1)))
                            + "; a newer kernel may have it"),
            new Entry(
                    "(?:program of this type cannot use helper|unknown func) \\w+#(\\d{1,9})",
                    (found, type) -> "on this kernel programs of type " + type + " can't call "
                            + helper(Integer.parseInt(found.group(1)))),
            new Entry(
                    "calling kernel function (\\w+) is not allowed",
                    (found, type) -> "on this kernel programs of type " + type + " can't call " + found.group(1)),
            new Entry(
                    "(?:At program exit the register R0|R0) has .*should have been in",
                    "programs of this type may only return certain values"));

    private VerifierAdvice() {}

    /**
     * Advice for a log that ends in a rejection.
     *
     * @param type of the program, by its name in the kernel
     */
    static Optional<String> of(String log, String type) {
        String end = log.substring(Math.max(0, log.length() - TAIL_CHARACTERS));
        for (Entry entry : ENTRIES) {
            Matcher matcher = entry.verdict().matcher(end);
            if (matcher.find()) {
                return Optional.of(entry.advice().apply(matcher, type));
            }
        }
        return Optional.empty();
    }

    private static String helper(int id) {
        String name = new Helper(id).name();
        return name.equals("unknown") ? "with number " + id : name + " (" + id + ")";
    }
}
