package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.catalog.ArgumentType;
import io.bpf4j.trace.expression.ValueType;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** Names for two probes. */
record SmallScope(Set<Integer> returns) implements Scope {
    @Override
    public Optional<Map<Integer, Argument>> find(String name) {
        return switch (name) {
            case "arg0" -> both(new Argument(0, integer(4, true)), new Argument(0, integer(4, true)));
            case "arg1", "pointer" ->
                both(new Argument(1, new ArgumentType.Pointer()), new Argument(1, new ArgumentType.Pointer()));
            case "address" ->
                both(
                        new Argument(1, new ArgumentType.Pointer()),
                        new Argument(
                                1,
                                new ArgumentType.Int(
                                        ValueType.Int.U64, Optional.of(ArgumentType.Unit.BYTES), Map.of(0L, "none"))));
            case "word" ->
                both(
                        new Argument(2, new ArgumentType.Int(ValueType.Int.REGISTER)),
                        new Argument(2, new ArgumentType.Int(ValueType.Int.REGISTER)));
            case "moved" -> both(new Argument(0, integer(4, true)), new Argument(2, integer(8, false)));
            case "full" -> both(new Argument(3, new ArgumentType.Bool()), new Argument(3, new ArgumentType.Bool()));
            case "query" -> both(text(4, false), text(4, false));
            case "unclear" -> both(text(4, false), new Argument(4, integer(8, false)));
            case "type" -> both(text(4, true), text(4, true));
            case "once" -> Optional.of(Map.of(1, new Argument(0, integer(8, true))));
            case "rows" -> Optional.of(Map.of(2, new Argument(2, integer(4, false))));
            case "ratio" -> both(new Argument(0, floating(8)), new Argument(0, floating(8)));
            case "part" -> both(new Argument(1, floating(4)), new Argument(1, integer(4, true)));
            case "doubtful" -> both(new Argument(0, Optional.empty()), new Argument(0, Optional.empty()));
            default -> Optional.empty();
        };
    }

    private static ArgumentType integer(int size, boolean signed) {
        return new ArgumentType.Int(new ValueType.Int(size, signed));
    }

    private static ArgumentType floating(int size) {
        return new ArgumentType.FloatingPoint(new ValueType.FloatingPoint(size));
    }

    private static Argument text(int index, boolean mangled) {
        return new Argument(index, new ArgumentType.Text(OptionalInt.of(5), OptionalInt.empty(), mangled));
    }

    private static Optional<Map<Integer, Argument>> both(Argument first, Argument second) {
        return Optional.of(Map.of(1, first, 2, second));
    }

    @Override
    public Collection<String> names() {
        return List.of(
                "arg0",
                "arg1",
                "pointer",
                "address",
                "moved",
                "full",
                "query",
                "unclear",
                "type",
                "once",
                "rows",
                "ratio",
                "part",
                "doubtful");
    }

    @Override
    public Map<Integer, String> probes() {
        return Map.of(1, "db:begin", 2, "db:end");
    }
}
