package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.expression.ExpressionException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The values of a pair's begin that the expressions at its end use. A value is the largest part of an expression whose
 * names all start with {@code begin.}. The part is evaluated at the begin, and the memory that it reads is read then,
 * because the process may have changed it by the end. <i>Immutable.</i>
 *
 * <p>The function writes a word, in which bit n is set if value n could not be read, and the values after it. An
 * expression that uses an unreadable value has no value.
 *
 * <p>Tested by {@code BeginsOnKernelTest}.
 */
public final class BeginValues {
    /**
     * The maximum number of values: each has a bit in the first word, in the low bits that one instruction can test.
     */
    static final int MAX_VALUES = 31;

    private final Scope scope;
    private final Optional<GeneratedFunction> function;
    private final Map<Syntax, Output> values = new HashMap<>();

    private BeginValues(Scope scope, Optional<GeneratedFunction> function, List<Syntax> parts) {
        this.scope = scope;
        this.function = function;
        for (int i = 0; i < parts.size(); i++) {
            values.put(parts.get(i), function.orElseThrow().outputs().get(i));
        }
    }

    /**
     * Compiles the parts of expressions that are evaluated at the begin. A value that a filter or a key uses is small
     * enough for a key, even if it is also shown.
     *
     * @param kept the filter and the keys of the end
     * @param keptLimit bytes of the values for the filter and the keys
     * @param shown expressions that are shown of an event
     * @param shownLimit bytes of the values that are only shown
     * @param scope of the begin
     * @throws ExpressionException if a part does not fit the scope or is too large, or if the values together exceed
     *     their limit
     */
    public static BeginValues of(
            List<Expression> kept, int keptLimit, List<Expression> shown, int shownLimit, Scope scope, Tables tables) {
        Map<Syntax, Expression> keptParts = parts(kept);
        Map<Syntax, Expression> shownParts = parts(shown);
        shownParts.keySet().removeAll(keptParts.keySet());
        List<Syntax> parts = Stream.of(keptParts, shownParts)
                .flatMap(each -> each.keySet().stream())
                .toList();
        Optional<GeneratedFunction> function = parts.isEmpty()
                ? Optional.empty()
                : Optional.of(new Compiler(scope, tables)
                        .begins(
                                List.copyOf(keptParts.values()),
                                keptLimit,
                                List.copyOf(shownParts.values()),
                                shownLimit));
        return new BeginValues(scope, function, parts);
    }

    /** The parts of the expressions, each with the first expression that has it. */
    private static Map<Syntax, Expression> parts(List<Expression> expressions) {
        Map<Syntax, Expression> parts = new LinkedHashMap<>();
        for (Expression expression : expressions) {
            expression
                    .partsOfBegin()
                    .forEach(part -> parts.putIfAbsent(part.tree().unplaced(), part));
        }
        return parts;
    }

    /** The function to call at the begin; empty if no expression uses a value of the begin. */
    public Optional<GeneratedFunction> function() {
        return function;
    }

    /** Whether an argument of the begin has this name. */
    boolean knows(String name) {
        return scope.find(name).isPresent();
    }

    Output find(Syntax part) {
        return Objects.requireNonNull(values.get(part.unplaced()), "a part that was not compiled");
    }

    /** The bit of a value in the first word. */
    int bit(Output value) {
        return function.orElseThrow().outputs().indexOf(value);
    }
}
