package io.bpf4j.loader.error;

import java.util.ArrayList;
import java.util.List;

/**
 * The part of a verifier log that a person needs: it ends with the reason, followed by figures that help nobody who has
 * to fix the program.
 *
 * <pre>
 * 0: R1=ctx() R10=fp0
 * ; int x = *(int *)0; @ prog.bpf.c:12
 * 0: (61) r0 = *(u32 *)(r2 +0)
 * R2 !read_ok                                       &lt;- the reason
 * processed 1 insns (limit 1000000) max_states...   &lt;- figures
 * </pre>
 */
final class VerifierLogTail {
    private static final int LINES = 12;
    private static final int LINE_LENGTH = 400;

    private VerifierLogTail() {}

    /** The tail as lines, each indented and each behind a line break; a sentence instead where the log is empty. */
    static String of(String log) {
        List<String> useful = new ArrayList<>();
        for (String line : log.lines().toList()) {
            if (!line.isBlank() && !isFigure(line)) {
                useful.add(line);
            }
        }
        if (useful.isEmpty()) {
            return " (the verifier gave no log)";
        }
        int first = Math.max(0, useful.size() - LINES);
        StringBuilder tail = new StringBuilder();
        if (first > 0) {
            tail.append("\n    (")
                    .append(first)
                    .append(first == 1 ? " line" : " lines")
                    .append(" left out)");
        }
        for (String line : useful.subList(first, useful.size())) {
            tail.append("\n    ");
            tail.append(line.length() > LINE_LENGTH ? line.substring(0, LINE_LENGTH) + "..." : line.stripTrailing());
        }
        return tail.toString();
    }

    private static boolean isFigure(String line) {
        return line.startsWith("processed ")
                || line.startsWith("verification time ")
                || line.startsWith("stack depth ")
                || line.startsWith("max_states_per_insn ");
    }
}
