package io.bpf4j.trace;

import io.bpf4j.trace.catalog.ArgumentType;
import io.bpf4j.trace.catalog.ProbeArgument;
import io.bpf4j.trace.internal.demangle.Demangler;
import io.bpf4j.trace.internal.expression.BeginValues;
import io.bpf4j.trace.internal.expression.Expression;
import io.bpf4j.trace.internal.expression.Field;
import io.bpf4j.trace.internal.expression.GeneratedFunction;
import io.bpf4j.trace.internal.expression.Output;
import io.bpf4j.trace.internal.expression.Scope;
import io.bpf4j.trace.internal.expression.Tables;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtProbe;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A question after its expressions were compiled: the functions that they became, and how the bytes that the functions
 * write are read. It needs no kernel; {@link QuestionProgram} loads it. <i>Immutable.</i>
 *
 * <p>Tested by {@code CompiledQuestionTest}, and by {@code QuestionsOnKernelTest}.
 */
final class CompiledQuestion {
    /** {@code QUESTION_SHOW}: the most bytes of values that are shown of an event. */
    private static final int MOST_SHOWN_BYTES = 1024;

    /** The start of the demangled symbol of a type's name. */
    private static final String NAME_OF_TYPE = "typeinfo name for ";

    /** What comes before the names of the values of a latency's begin. */
    private static final String OF_BEGIN = "begin.";

    /** The end of a text that was cut. */
    private static final String CUT = "...";

    /** {@code QUESTION_FRAMES}: the most addresses of a stack. */
    static final int FRAMES = 127;

    private final Question question;
    private final Tables tables = new Tables();

    /** Whether probes may be attached that were not known when the question was compiled. */
    private final boolean open;

    private final int probesKnown;
    private final LaterProbes later;
    private final @Nullable GeneratedFunction begin;
    private final @Nullable GeneratedFunction where;
    private final KeyLayout key;
    private final @Nullable GeneratedFunction value;
    private final @Nullable GeneratedFunction pair;
    private final @Nullable GeneratedFunction shown;
    private final Optional<String> unitOfArgument;

    /** The probes of which the filter accepts no event. */
    private final Set<String> leftOut;

    /** The expressions that are mangled names of C++ types. */
    private final Set<String> encodedTypes;

    private CompiledQuestion(Question question, ProbeNumbers numbers) {
        this.question = question;
        boolean latency = question.kind == QuestionKind.LATENCY;
        List<ProbeNumbers.Known> known = numbers.all();
        probesKnown = known.size();
        open = !question.expected.isEmpty() || known.isEmpty();

        // In the expressions of a latency, begin.NAME is a value at the begin, and any other name is a value at the
        // end.
        Optional<BeginValues> begins = latency
                ? Optional.of(beginValues(question, new ProbeScope(numbers.begins(), open), tables))
                : Optional.empty();
        begin = begins.flatMap(BeginValues::function).orElse(null);

        // The filter decides which probes the other expressions apply to. A latency is filtered at the end of a pair.
        List<ProbeNumbers.Known> filtered =
                latency ? known.stream().filter(ProbeNumbers.Known::ends).toList() : known;
        where = question.where.isEmpty()
                ? null
                : GeneratedFunction.predicate(
                        Expression.parse(question.where), new ProbeScope(filtered, open, begins), tables);
        List<ProbeNumbers.Known> taken = taken(question, where, filtered);
        leftOut = latency ? Set.of() : leftOut(known, taken);
        boolean takesLater = open && (where == null || where.probes().contains(Scope.LATER));
        Scope answered = new ProbeScope(taken, takesLater, begins);

        value = question.kind == QuestionKind.HISTOGRAM
                ? GeneratedFunction.value(Expression.parse(question.of), answered, tables)
                : null;
        pair = question.pairedBy.isEmpty()
                ? null
                : GeneratedFunction.value(Expression.parse(question.pairedBy), new ProbeScope(known, open), tables);
        shown = question.show.isEmpty()
                ? null
                : GeneratedFunction.outputs(parsed(question.show.stream()), answered, tables, MOST_SHOWN_BYTES);
        key = KeyLayout.of(question, answered, tables);
        requireFittingScale(question.scale, valueSigned());

        unitOfArgument = unitOfArgument(question.of.strip(), taken);
        encodedTypes = encodedTypes(known);
        later = new LaterProbes(List.copyOf(functions().values()), probesKnown);
    }

    /** The parts of a latency's expressions that are evaluated at its begin. */
    private static BeginValues beginValues(Question question, Scope begins, Tables tables) {
        Stream<String> filterAndKeys =
                Stream.concat(Stream.of(question.where), question.by.stream()).filter(text -> !text.isEmpty());
        return BeginValues.of(
                parsed(filterAndKeys),
                KeyLayout.MOST_BYTES,
                parsed(question.show.stream()),
                MOST_SHOWN_BYTES,
                begins,
                tables);
    }

    private static void requireFittingScale(Distribution.Scale scale, boolean signed) {
        if (scale.linear() && scale.from() < 0 && !signed) {
            throw new IllegalArgumentException("the values to distribute are unsigned, so no range begins at "
                    + scale.from() + "; begin at 0, or convert them: (long)(…)");
        }
    }

    /** The probes of which the filter takes events; all if it takes none, but others may appear. */
    private static List<ProbeNumbers.Known> taken(
            Question question, @Nullable GeneratedFunction where, List<ProbeNumbers.Known> probes) {
        if (where == null) {
            return probes;
        }
        List<ProbeNumbers.Known> taken = probes.stream()
                .filter(probe -> where.probes().contains(probe.number()))
                .toList();
        if (taken.isEmpty() && !probes.isEmpty() && question.expected.isEmpty()) {
            String first = probes.getFirst().fullName();
            throw new IllegalArgumentException("the filter is never true of "
                    + (probes.size() == 1 ? first : "any of " + probes.size() + " probes, such as " + first) + ": "
                    + question.where);
        }
        return taken.isEmpty() ? probes : taken;
    }

    /** The names without a probe that passes the filter. */
    private static Set<String> leftOut(List<ProbeNumbers.Known> known, List<ProbeNumbers.Known> taken) {
        Set<String> names =
                known.stream().map(ProbeNumbers.Known::fullName).collect(Collectors.toCollection(HashSet::new));
        taken.forEach(probe -> names.remove(probe.fullName()));
        return names;
    }

    /** Whether the filter may accept an event of a probe; the other probes need not be attached. */
    boolean takes(String fullName) {
        return !leftOut.contains(fullName);
    }

    /**
     * Checks that the question can be asked of a probe, which may not have been known when it was compiled.
     *
     * @throws IllegalArgumentException if the question neither knows nor expects the probe
     * @throws UsdtException if the answer would be wrong: see {@link LaterProbes}
     */
    void check(UsdtProbe probe, ProbeNumbers numbers) {
        int number = (int) numbers.cookie(probe);
        if (number > probesKnown && !open) {
            throw new IllegalArgumentException("the question is not about " + probe.fullName());
        }
        later.check(probe, number);
    }

    private static Set<String> encodedTypes(List<ProbeNumbers.Known> probes) {
        return probes.stream()
                .flatMap(probe -> probe.signature().stream())
                .flatMap(signature -> signature.arguments().stream())
                .filter(argument -> argument.type() instanceof ArgumentType.Text text && text.mangled())
                .map(ProbeArgument::name)
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Compiles a question.
     *
     * @throws io.bpf4j.trace.expression.ExpressionException if an expression is wrong
     * @throws IllegalArgumentException if the parts of the question don't fit together
     */
    static CompiledQuestion of(Question question, ProbeNumbers numbers) {
        if (question.kind == QuestionKind.LATENCY) {
            List<ProbeNumbers.Known> both =
                    numbers.all().stream().filter(p -> p.begins() && p.ends()).toList();
            if (!both.isEmpty()) {
                throw new IllegalArgumentException("probe " + both.getFirst().fullName()
                        + " both begins and ends a pair: the patterns of begin and end must differ");
            }
        } else if (!question.pairedBy.isEmpty() || question.slowerThan.isPresent()) {
            throw new IllegalArgumentException("only a latency has pairs, and events slower than a time");
        }
        boolean shows = !question.show.isEmpty() && question.kind != QuestionKind.LATENCY;
        if (!question.of.isEmpty() && (shows || !question.pair.isEmpty() || question.kind != QuestionKind.HISTOGRAM)) {
            throw new IllegalArgumentException(
                    "a question has one kind: a histogram, a latency, or events that are shown; ask two questions");
        }
        if (question.lossless && question.kind != QuestionKind.EVENTS) {
            throw new IllegalArgumentException("only a question that shows each event can be lossless");
        }
        return new CompiledQuestion(question, numbers);
    }

    private static List<Expression> parsed(Stream<String> expressions) {
        return expressions.map(Expression::parse).toList();
    }

    /** The functions that the question needs, by the names of the stubs that they replace. */
    Map<String, GeneratedFunction> functions() {
        Map<String, GeneratedFunction> functions = new LinkedHashMap<>();
        put(functions, "question_begin", begin);
        put(functions, "question_where", where);
        put(functions, "question_keys", key.expressions());
        put(functions, "question_value", value);
        put(functions, "question_pair", pair);
        put(functions, "question_show", shown);
        return functions;
    }

    private static void put(
            Map<String, GeneratedFunction> functions, String stub, @Nullable GeneratedFunction function) {
        if (function != null) {
            functions.put(stub, function);
        }
    }

    /** The arguments that the functions read; bit n for {@code argN}. */
    long arguments() {
        return functions().values().stream()
                .mapToLong(GeneratedFunction::arguments)
                .reduce(0, (left, right) -> left | right);
    }

    /** The fields of an event to fill, as bits of {@link Field}. */
    long fields() {
        boolean paired = question.kind == QuestionKind.LATENCY;
        long own = (paired || showsEvents() ? Field.NSECS.bit() | Field.THREAD.bit() : 0)
                | (hasReturns() ? Field.THREAD.bit() : 0);
        return functions().values().stream()
                .flatMap(function -> function.fields().stream())
                .mapToLong(Field::bit)
                .reduce(own, (left, right) -> left | right);
    }

    KeyLayout key() {
        return key;
    }

    /** Whether a function's result is needed, or the time of a call. */
    boolean hasReturns() {
        return question.functions.stream().anyMatch(FunctionProbe::returns);
    }

    /** The bytes that the functions look up: texts and patterns. */
    byte[] tables() {
        return tables.bytes();
    }

    /** The size of what is kept of a pair's begin besides its time, in bytes. */
    int beginBytes() {
        return begin == null ? 0 : begin.outputBytes();
    }

    boolean showsEvents() {
        return question.kind == QuestionKind.EVENTS || question.slowerThan.isPresent();
    }

    QuestionKind kind() {
        return question.kind;
    }

    Distribution.Scale scale() {
        return question.scale;
    }

    /** Whether the values of a distribution are signed; a time is not. */
    boolean valueSigned() {
        return value != null && !value.outputs().getFirst().type().isU64();
    }

    /** The size of the value that a CPU has for a key, in bytes. */
    int valueBytes() {
        return question.kind == QuestionKind.COUNT ? Long.BYTES : Distribution.Sums.bytes(question.scale);
    }

    int shownBytes() {
        return shown == null ? 0 : shown.outputBytes();
    }

    /** Whether keys or shown values have the names of control groups. */
    boolean namesGroups() {
        return Stream.of(Optional.ofNullable(key.expressions()), Optional.ofNullable(shown))
                .flatMap(Optional::stream)
                .flatMap(function -> function.outputs().stream())
                .anyMatch(Output::isGroup);
    }

    Map<String, Object> keyOf(byte[] bytes, ProbeNumbers numbers, Output.GroupName groups) {
        return values(key.expressions(), bytes, numbers, groups);
    }

    Map<String, Object> shownOf(byte[] bytes, ProbeNumbers numbers, Output.GroupName groups) {
        return values(shown, bytes, numbers, groups);
    }

    /** As {@link KeyLayout#same}. */
    Object sameKey(byte[] bytes, ProbeNumbers numbers, Output.GroupName groups) {
        return key.same(bytes, open, numbers, groups);
    }

    private Map<String, Object> values(
            @Nullable GeneratedFunction function, byte[] bytes, ProbeNumbers numbers, Output.GroupName groups) {
        Map<String, Object> values = new LinkedHashMap<>();
        if (function != null) {
            for (Output output : function.outputs()) {
                Object value =
                        output.decode(bytes, ofBegin(output.text()) ? numbers::nameOfBegin : numbers::name, groups);
                if (value instanceof String text) {
                    String name = output.text().strip();
                    boolean encoded = encodedTypes.contains(ofBegin(name) ? name.substring(OF_BEGIN.length()) : name);
                    value = (encoded ? typeName(text) : text) + (output.isCut(bytes) ? CUT : "");
                }
                values.put(output.text(), value);
            }
        }
        return values;
    }

    private static boolean ofBegin(String expression) {
        return expression.replace("(", "").strip().startsWith(OF_BEGIN);
    }

    /**
     * {@code std::runtime_error} for {@code St13runtime_error}. A name that can't be demangled, such as one that is
     * cut, stays as it is.
     */
    static String typeName(String encoded) {
        // A * marks a type that is local to one file.
        String symbol = "_ZTS" + (encoded.startsWith("*") ? encoded.substring(1) : encoded);
        String name = Demangler.demangle(symbol);
        return name.startsWith(NAME_OF_TYPE) ? name.substring(NAME_OF_TYPE.length()) : encoded;
    }

    /** Whether keys or the values of a distribution are results of functions, without a conversion. */
    boolean hasResults() {
        return distributesResults() || question.by.stream().anyMatch(SignedResults::isResult);
    }

    boolean distributesResults() {
        return SignedResults.isResult(question.of);
    }

    /** The unit of the values: of a latency, and of an argument whose unit the catalog knows. */
    Optional<String> unit() {
        return question.kind == QuestionKind.LATENCY ? Optional.of("ns") : unitOfArgument;
    }

    private static Optional<String> unitOfArgument(String name, List<ProbeNumbers.Known> probes) {
        List<Optional<ArgumentType.Unit>> units = probes.stream()
                .map(probe -> probe.signature()
                        .flatMap(signature -> signature.argument(name))
                        .map(ProbeArgument::type)
                        .flatMap(type -> type instanceof ArgumentType.Int number ? number.unit() : Optional.empty()))
                .distinct()
                .toList();
        return units.size() == 1 ? units.getFirst().map(ArgumentType.Unit::symbol) : Optional.empty();
    }
}
