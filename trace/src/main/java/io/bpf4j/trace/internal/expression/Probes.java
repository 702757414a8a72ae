package io.bpf4j.trace.internal.expression;

import static io.bpf4j.insn.Assembler.R0;

import io.bpf4j.insn.Opcodes;
import io.bpf4j.trace.expression.ValueType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/**
 * Generates the code that loads the number of the event's probe. A set of probes is compared as runs of consecutive
 * numbers; the probes of a provider usually have such numbers.
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
final class Probes {
    private Probes() {}

    /** Consecutive numbers. */
    record Run(int first, int last) {}

    static List<Run> runs(SortedSet<Integer> numbers) {
        List<Run> runs = new ArrayList<>();
        for (int number : numbers) {
            if (!runs.isEmpty() && runs.getLast().last() == number - 1) {
                runs.set(runs.size() - 1, new Run(runs.getLast().first(), number));
            } else {
                runs.add(new Run(number, number));
            }
        }
        return runs;
    }

    /** R0 = the number of the event's probe, the low half of the cookie. */
    static void load(Code code) {
        code.load(Long.BYTES, R0, Code.EVENT, EventField.COOKIE);
        code.extend(R0, new ValueType.Int(4, false));
    }

    /** R0 = the number of the first probe that has the same provider as the event's. */
    static void loadProvider(Code code, Map<Integer, String> probes) {
        loadFirst(code, probes, Output::provider);
    }

    /**
     * R0 = the number of the first probe with the same name as the event's, because all versions of a probe share a
     * name.
     */
    static void loadProbe(Code code, Map<Integer, String> probes) {
        loadFirst(code, probes, UnaryOperator.identity());
    }

    private static void loadFirst(Code code, Map<Integer, String> probes, UnaryOperator<String> group) {
        Map<String, SortedSet<Integer>> groups = new TreeMap<>();
        probes.forEach((number, name) ->
                groups.computeIfAbsent(group.apply(name), _ -> new TreeSet<>()).add(number));
        load(code);
        String end = code.label();
        for (SortedSet<Integer> numbers : groups.values()) {
            int first = numbers.first();
            for (Run run : runs(numbers.tailSet(first + 1))) {
                String next = code.label();
                code.jumpIf(Opcodes.JLT, R0, run.first(), next);
                code.jumpIf(Opcodes.JGT, R0, run.last(), next);
                code.constant(R0, first);
                code.jump(end);
                code.place(next);
            }
        }
        code.place(end);
    }
}
