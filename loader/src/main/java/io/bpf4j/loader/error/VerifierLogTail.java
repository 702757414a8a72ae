package io.bpf4j.loader.error;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.Iterator;

/**
 * The useful end of a verifier log. The log ends with the reason, followed by statistics that do not help to fix the
 * program. Some lines in between do not help either.
 *
 * <pre>
 * 0: R1=ctx() R10=fp0
 * ; int x = *(int *)0; @ prog.bpf.c:12              &lt;- the source line, for all that follows
 * 0: (61) r0 = *(u32 *)(r2 +0)
 * R2 !read_ok                                       &lt;- the reason
 * processed 1 insns (limit 1000000) max_states...   &lt;- figures
 * </pre>
 *
 * <p>Tested by {@code ErrorsTest}.
 */
final class VerifierLogTail {
    /** Starts each line of the message except the first. */
    static final String BREAK = "\n    ";

    /** The loader's line in a log that was too long, of which only the beginning and the reason are kept. */
    private static final String TRUNCATED = "(the log is longer than ";

    private static final int LINES = 12;
    private static final int LINE_LENGTH = 400;

    private VerifierLogTail() {}

    /**
     * The tail as lines, each indented and after a line break; a sentence instead if the log is empty. It includes the
     * source line of its first instruction, even if that is further up.
     */
    static String of(String log) {
        Deque<String> useful = new ArrayDeque<>();
        String source = "";
        long omitted = 0;
        for (Iterator<String> lines = log.lines().iterator(); lines.hasNext(); ) {
            String line = lines.next();
            if (line.isBlank() || isNoise(line)) {
                continue;
            }
            if (line.startsWith(TRUNCATED)) {
                // Earlier lines are unrelated to the reason.
                omitted += useful.size();
                useful.clear();
                source = "";
            }
            useful.add(line);
            if (useful.size() > LINES) {
                String removed = useful.remove();
                omitted++;
                source = isSource(removed) ? removed : source;
            }
        }
        if (useful.isEmpty()) {
            return " (the verifier returned no log)";
        }
        StringBuilder tail = new StringBuilder();
        if (omitted > 0) {
            tail.append(BREAK).append("(").append(omitted).append(omitted == 1 ? " line" : " lines");
            tail.append(" left out)");
        }
        if (!source.isEmpty() && !isSource(useful.getFirst())) {
            append(tail, source);
        }
        useful.forEach(line -> append(tail, line));
        return tail.toString();
    }

    private static boolean isSource(String line) {
        return line.startsWith("; ");
    }

    /** Statistics, and the verifier's backtracking for precise registers, which do not help a user. */
    private static boolean isNoise(String line) {
        return line.startsWith("processed ")
                || line.startsWith("verification time ")
                || line.startsWith("stack depth ")
                || line.startsWith("max_states_per_insn ")
                || line.startsWith("mark_precise: ")
                || line.startsWith("last_idx ")
                || line.startsWith("regs=")
                || line.startsWith("parent already had regs=")
                || line.startsWith("parent didn't have regs=");
    }

    private static void append(StringBuilder tail, String line) {
        String whole = line.stripTrailing();
        boolean truncated = whole.length() > LINE_LENGTH;
        tail.append(BREAK)
                .append(printable(truncated ? whole.substring(0, LINE_LENGTH) : whole))
                .append(truncated ? "..." : "");
    }

    /** Names and source lines come from the object, and may have control characters that a terminal would interpret. */
    static String printable(String text) {
        StringBuilder printable = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isISOControl(c) && c != '\t') {
                printable.append("\\x").append(HexFormat.of().toHexDigits((byte) c));
            } else {
                printable.append(c);
            }
        }
        return printable.toString();
    }
}
