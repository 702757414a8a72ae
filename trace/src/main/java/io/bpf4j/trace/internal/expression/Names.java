package io.bpf4j.trace.internal.expression;

import io.bpf4j.elf.internal.text.NearestName;
import io.bpf4j.trace.catalog.ArgumentType;
import io.bpf4j.trace.expression.ExpressionException;
import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.trace.internal.expression.Term.Numeric;
import io.bpf4j.trace.internal.expression.Term.Textual;
import java.util.BitSet;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Finds the terms that the names of an expression stand for. <i>Confined.</i>
 *
 * <p>A name may stand for different arguments of different probes. Probes for which it is the same term form a group.
 * The result tests whether the event's probe is in one of the smaller groups; if it is in none, the largest group's
 * term is taken without a test.
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
final class Names {
    private static final Map<String, EventField> FIELDS = Map.of(
            "nsecs", EventField.NSECS,
            "cgroup", EventField.CGROUP,
            "pid", EventField.PID,
            "tid", EventField.TID,
            "uid", EventField.UID,
            "cpu", EventField.CPU);

    /** Names that an argument may have, too; it is meant then. */
    private static final Map<String, ValueType.Basic> GROUPS = Map.of(
            "unit", ValueType.Basic.UNIT,
            "container", ValueType.Basic.CONTAINER,
            "pod", ValueType.Basic.POD);

    private static final List<String> OTHERS = List.of("comm", "probe", "provider", "retval", "true", "false", "str");

    /** The {@link #OTHERS} that are not values of an event. */
    private static final Set<String> WORDS = Set.of("true", "false", "str");

    private static final Pattern NUMBERED = Pattern.compile("arg\\d+");

    /** A message lists the names of all arguments if there are at most this many. */
    private static final int MAX_LISTED = 12;

    /** The bytes of a text without an explicit bound that are used, if there is room. */
    static final int NAMED_TEXT = 128;

    private final Expression expression;
    private final Scope scope;
    private final List<NameUse> uses;

    /** @param uses receives the arguments that are found */
    Names(Expression expression, Scope scope, List<NameUse> uses) {
        this.expression = expression;
        this.scope = scope;
        this.uses = uses;
    }

    /** What a name stands for, if it is that of the thread's unit, container or pod and no argument has it. */
    static Optional<ValueType.Basic> group(String name) {
        return Optional.ofNullable(GROUPS.get(name));
    }

    /** @param reached the probes for which the name is evaluated; the others need not have it */
    Term term(Syntax.Name name, BitSet reached) {
        EventField field = FIELDS.get(name.name());
        if (field != null) {
            return new Term.FieldValue(field);
        }
        return switch (name.name()) {
            case "comm" -> new Term.Comm();
            case "probe" -> new Term.ProbeName(ValueType.Basic.PROBE);
            case "provider" -> new Term.ProbeName(ValueType.Basic.PROVIDER);
            case "retval" -> {
                requireReturns(name, reached);
                yield new Term.FieldValue(EventField.RETVAL);
            }
            default -> argument(name, reached);
        };
    }

    private void requireReturns(Syntax.Name name, BitSet reached) {
        Set<Integer> returns = scope.returns();
        if (returns.isEmpty()) {
            throw error(
                    name.at(),
                    "'" + name.written() + "' is the result of a function, but these probes are not function returns");
        }
        requireAll(name, reached, returns);
        if (reached.get(Scope.LATER)) {
            throw error(
                    name.at(),
                    "probes that appear later have no 'retval'; guard it, as in probe == \""
                            + scope.probes().get(returns.iterator().next()) + "\" && …");
        }
    }

    private Term argument(Syntax.Name name, BitSet reached) {
        Optional<Map<Integer, Scope.Argument>> found = scope.find(name.name());
        if (found.isEmpty() || found.get().isEmpty()) {
            return new Term.GroupName(group(name.name()).orElseThrow(() -> unknown(name)));
        }
        Map<Integer, Scope.Argument> byProbe = new TreeMap<>(found.get());
        requireAll(name, reached, byProbe.keySet());
        boolean evaluated = byProbe.keySet().stream().anyMatch(reached::get);
        if (evaluated) {
            byProbe.keySet().removeIf(number -> !reached.get(number));
        }
        Map<Term, SortedSet<Integer>> probesByTerm = new LinkedHashMap<>();
        byProbe.forEach((number, argument) -> probesByTerm
                .computeIfAbsent(value(name, argument), _ -> new TreeSet<>())
                .add(number));
        List<Map.Entry<Term, SortedSet<Integer>>> smallestFirst = probesByTerm.entrySet().stream()
                .sorted(Comparator.comparingInt(group -> group.getValue().size()))
                .toList();
        Map.Entry<Term, SortedSet<Integer>> largest = smallestFirst.getLast();
        Map<Integer, Scope.Argument> read = evaluated ? new TreeMap<>(byProbe) : new TreeMap<>();
        if (reached.get(Scope.LATER)) {
            read.put(
                    Scope.LATER,
                    Objects.requireNonNull(byProbe.get(largest.getValue().first())));
        }
        uses.add(new NameUse.OfArgument(name.name(), read));
        Term result = largest.getKey();
        for (Map.Entry<Term, SortedSet<Integer>> group : smallestFirst.subList(0, smallestFirst.size() - 1)) {
            result = either(new Term.OfProbe(group.getValue()), group.getKey(), result, name);
        }
        return result;
    }

    private void requireAll(Syntax.Name name, BitSet reached, Set<Integer> probesWithName) {
        Map<Integer, String> probes = scope.probes();
        reached.stream()
                .filter(number -> probes.containsKey(number) && !probesWithName.contains(number))
                .findFirst()
                .ifPresent(number -> {
                    throw error(
                            name.at(),
                            "probe " + probes.get(number) + " has no '" + name.written() + "'; other probes have it"
                                    + probesWithName.stream()
                                            .filter(probes::containsKey)
                                            .min(Comparator.naturalOrder())
                                            .map(other -> ": guard it, as in " + (name.ofBegin() ? Lexer.BEGIN : "")
                                                    + "probe == \"" + probes.get(other) + "\" && …")
                                            .orElse(""));
                });
    }

    private Term either(Numeric condition, Term then, Term otherwise, Syntax.Name name) {
        if (then instanceof Numeric a && otherwise instanceof Numeric b) {
            ValueType type = a.type().equals(b.type()) ? a.type() : Typing.common(a.type(), b.type());
            return Folding.choice(condition, a, b, type);
        }
        if (then instanceof Textual a && otherwise instanceof Textual b) {
            return Folding.choice(condition, a, b);
        }
        if (then instanceof Term.FloatArgument || otherwise instanceof Term.FloatArgument) {
            throw error(
                    name.at(),
                    "'" + name.written() + "' is a floating-point number, and not the same argument for all probes");
        }
        throw error(name.at(), "'" + name.written() + "' is text for some of the probes, and a number for others");
    }

    private Term value(Syntax.Name name, Scope.Argument argument) {
        int index = argument.index();
        Numeric number = new Term.Argument(index, ValueType.Int.U64);
        ArgumentType type = argument.type()
                .orElseThrow(() -> error(
                        name.at(),
                        "'" + name.written() + "' is a floating-point number at some sites of the probe, and has"
                                + " another type at others"));
        return switch (type) {
            case ArgumentType.Int integer -> new Term.Argument(index, integer.number());
            case ArgumentType.FloatingPoint(ValueType.FloatingPoint floating) ->
                new Term.FloatArgument(index, floating);
            case ArgumentType.Bool() ->
                new Term.Not(new Term.Not(new Term.Argument(index, new ValueType.Int(1, false))));
            case ArgumentType.Pointer() -> number;
            case ArgumentType.Text(OptionalInt length, OptionalInt pointerAt, boolean mangled) ->
                new Term.UserText(
                        pointerAt.isEmpty()
                                ? number
                                : new Term.Memory(
                                        Folding.arithmetic(
                                                Operator.ADD,
                                                number,
                                                new Term.Constant(pointerAt.getAsInt(), ValueType.Int.S64),
                                                ValueType.Int.U64),
                                        ValueType.Int.U64),
                        length.isEmpty()
                                ? Optional.empty()
                                : Optional.of(new Term.Argument(length.getAsInt(), ValueType.Int.S64)),
                        NAMED_TEXT,
                        mangled ? Term.BoundOrigin.LONG : Term.BoundOrigin.DEFAULT);
        };
    }

    private ExpressionException unknown(Syntax.Name name) {
        if (scope.begin().filter(begin -> begin.knows(name.name())).isPresent()) {
            return error(
                    name.at(),
                    "no '" + name.name()
                            + "' at the end of a latency, where filter, keys and shown values are evaluated;"
                            + " write " + Lexer.BEGIN + name.name() + " for its value at the begin");
        }
        if (NUMBERED.matcher(name.name()).matches()
                && scope.names().isEmpty()
                && !scope.probes().isEmpty()) {
            return error(
                    name.at(),
                    "no '" + name.written() + "': these probes have no arguments"
                            + (scope.returns().isEmpty() ? "" : "; the result of a function is 'retval'"));
        }
        List<String> known = Stream.of(FIELDS.keySet(), GROUPS.keySet(), OTHERS, scope.names())
                .flatMap(Collection::stream)
                .filter(other -> !other.equals("retval") || !scope.returns().isEmpty())
                .filter(other -> !name.ofBegin() || !WORDS.contains(other))
                .distinct()
                .sorted()
                .toList();
        String prefix = name.ofBegin() ? Lexer.BEGIN : "";
        String nearest = NearestName.of(name.name(), known)
                .map(near -> "; the nearest is '" + prefix + near + "'")
                .orElse("");
        List<String> given =
                scope.names().stream().distinct().map(prefix::concat).toList();
        return error(
                name.at(),
                "no name '" + name.written() + "'" + nearest
                        + (given.isEmpty() || given.size() > MAX_LISTED
                                ? ""
                                : "; the arguments are " + String.join(", ", given)));
    }

    private ExpressionException error(int at, String reason) {
        return new ExpressionException(expression.text(), at, reason);
    }
}
