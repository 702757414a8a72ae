package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Compares what two loaders made of the same bytes, by what the kernel has after verification: one relocation that
 * differs, one map in place of another, one global with another value, makes other instructions. <i>Confined.</i>
 */
public final class SameInstructions {
    private final List<String> problems = new ArrayList<>();
    private int compared;

    /** Compares the programs pinned in two directories. */
    public void compare(String object, Path ours, Path libbpfs) throws IOException, InterruptedException {
        compare(object, BpfTool.translated(ours), BpfTool.translated(libbpfs));
    }

    private void compare(String object, Map<String, List<String>> ours, Map<String, List<String>> libbpfs) {
        if (!ours.keySet().equals(libbpfs.keySet())) {
            problems.add(object + ": programs " + ours.keySet() + ", libbpf has " + libbpfs.keySet());
            return;
        }
        ours.forEach((program, code) -> {
            compared++;
            List<String> other = libbpfs.getOrDefault(program, List.of());
            for (int i = 0; i < Math.max(code.size(), other.size()); i++) {
                String left = i < code.size() ? code.get(i) : "none";
                String right = i < other.size() ? other.get(i) : "none";
                if (!left.equals(right)) {
                    problems.add(object + ", program " + program + ", instruction " + i + " of " + code.size() + ": "
                            + left + ", libbpf has " + right);
                    return;
                }
            }
        });
    }

    /** Something else that is not as it should be. */
    public void problem(String text) {
        problems.add(text);
    }

    public List<String> problems() {
        return problems;
    }

    /** How many programs were compared. */
    public int compared() {
        return compared;
    }
}
