package io.bpf4j.test.trace;

import io.bpf4j.trace.catalog.ArgumentType;
import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.trace.internal.expression.Scope;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;

/** The names of {@link SampleExpressions}, for four probes of two providers. */
final class SampleScope implements Scope {
    private static final Map<Integer, String> PROBES = Map.of(1, "db:begin", 2, "db:end", 3, "jvm:begin", 4, "jvm:end");

    @Override
    public Optional<Map<Integer, Argument>> find(String name) {
        if (name.startsWith("arg")) {
            int index = Integer.parseInt(name.substring(3));
            return everywhere(new Argument(
                    index,
                    index >= SampleExpressions.SIZES.size()
                            ? new ArgumentType.Pointer()
                            : integer(SampleExpressions.SIZES.get(index), SampleExpressions.isSigned(index))));
        }
        return switch (name) {
            case "mixed" -> {
                Argument common = new Argument(0, integer(4, true));
                yield Optional.of(Map.of(
                        1,
                        common,
                        2,
                        common,
                        3,
                        new Argument(1, integer(1, true)),
                        4,
                        new Argument(4, integer(4, false))));
            }
            case "flag" -> everywhere(new Argument(1, new ArgumentType.Bool()));
            case "query" ->
                everywhere(new Argument(8, new ArgumentType.Text(OptionalInt.empty(), OptionalInt.empty(), false)));
            case "className" ->
                everywhere(new Argument(9, new ArgumentType.Text(OptionalInt.of(0), OptionalInt.empty(), false)));
            case "inner" ->
                everywhere(new Argument(10, new ArgumentType.Text(OptionalInt.empty(), OptionalInt.of(8), false)));
            default -> Optional.empty();
        };
    }

    private static ArgumentType integer(int size, boolean signed) {
        return new ArgumentType.Int(new ValueType.Int(size, signed));
    }

    private static Optional<Map<Integer, Argument>> everywhere(Argument argument) {
        Map<Integer, Argument> byProbe = new TreeMap<>();
        PROBES.keySet().forEach(number -> byProbe.put(number, argument));
        return Optional.of(byProbe);
    }

    @Override
    public Collection<String> names() {
        return List.of("arg0", "mixed", "flag", "query", "className", "inner");
    }

    @Override
    public Map<Integer, String> probes() {
        return PROBES;
    }

    @Override
    public Set<Integer> returns() {
        return PROBES.keySet();
    }
}
