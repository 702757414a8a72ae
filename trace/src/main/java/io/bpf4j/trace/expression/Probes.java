package io.bpf4j.trace.expression;

import static io.bpf4j.insn.Assembler.R0;

import io.bpf4j.insn.Opcodes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The number of the event's probe, and sets of numbers as code compares them: in runs of consecutive ones, because
 * probes of a provider usually have such.
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
        code.extend(R0, new Type.Int(4, false));
    }

    /** R0 = the number of the first probe that has the same provider as the event's. */
    static void loadProvider(Code code, Map<Integer, String> probes) {
        Map<String, SortedSet<Integer>> byProvider = new TreeMap<>();
        probes.forEach((number, name) -> byProvider
                .computeIfAbsent(Output.provider(name), _ -> new TreeSet<>())
                .add(number));
        load(code);
        String end = code.label();
        for (SortedSet<Integer> numbers : byProvider.values()) {
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
