package io.bpf4j.loader.error;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.Iterator;

/**
 * The part of a verifier log that a person needs: it ends with the reason, followed by figures that help nobody who has
 * to fix the program. So do some lines in between.
 *
 * <pre>
 * 0: R1=ctx() R10=fp0
 * ; int x = *(int *)0; @ prog.bpf.c:12              &lt;- the source line, for all that follows
 * 0: (61) r0 = *(u32 *)(r2 +0)
 * R2 !read_ok                                       &lt;- the reason
 * processed 1 insns (limit 1000000) max_states...   &lt;- figures
 * </pre>
 */
final class VerifierLogTail {
    /** What a line of the message starts with, but for the first. */
    static final String BREAK = "\n    ";

    /** The loader's own line, where a log was too long and only its beginning and the reason are there. */
    private static final String CUT = "(the log is longer than ";

    private static final int LINES = 12;
    private static final int LINE_LENGTH = 400;

    private VerifierLogTail() {}

    /**
     * The tail as lines, each indented and each behind a line break; a sentence instead where the log is empty. The source
     * line of the first instruction is there even if it is further up.
     */
    static String of(String log) {
        Deque<String> useful = new ArrayDeque<>();
        String source = "";
        long left = 0;
        for (Iterator<String> lines = log.lines().iterator(); lines.hasNext(); ) {
            String line = lines.next();
            if (line.isBlank() || isForNobody(line)) {
                continue;
            }
            if (line.startsWith(CUT)) {
                // What came before has nothing to do with the reason.
                left += useful.size();
                useful.clear();
                source = "";
            }
            useful.add(line);
            if (useful.size() > LINES) {
                String gone = useful.remove();
                left++;
                source = isSource(gone) ? gone : source;
            }
        }
        if (useful.isEmpty()) {
            return " (the verifier gave no log)";
        }
        StringBuilder tail = new StringBuilder();
        if (left > 0) {
            tail.append(BREAK).append("(").append(left).append(left == 1 ? " line" : " lines");
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

    /** Figures, and how the verifier goes back to find out which numbers have to be exact, which is its own business. */
    private static boolean isForNobody(String line) {
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
        boolean cut = whole.length() > LINE_LENGTH;
        tail.append(BREAK)
                .append(printable(cut ? whole.substring(0, LINE_LENGTH) : whole))
                .append(cut ? "..." : "");
    }

    /** Names and source lines are whatever the object says, and control characters could make a terminal do things. */
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
