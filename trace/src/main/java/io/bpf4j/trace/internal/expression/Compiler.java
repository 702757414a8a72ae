package io.bpf4j.trace.internal.expression;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R10;

import io.bpf4j.trace.expression.ExpressionException;
import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.trace.internal.expression.Term.BoundOrigin;
import io.bpf4j.trace.internal.expression.Term.Numeric;
import io.bpf4j.trace.internal.expression.Term.ProbeName;
import io.bpf4j.trace.internal.expression.Term.Textual;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Compiles expressions to a function: finds their types, then generates its code. <i>Confined</i>, and used once.
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
final class Compiler {
    /** Bytes of memory for the texts that a predicate compares; it reads them into its output. */
    private static final int PREDICATE_TEXT = 128;

    /** Bytes of memory for the texts that other functions compare; they read them onto the stack. */
    private static final int STACK_TEXT = 64;

    private final Scope scope;
    private final Tables tables;
    private final List<NameUse> uses = new ArrayList<>();

    Compiler(Scope scope, Tables tables) {
        this.scope = scope;
        this.tables = tables;
    }

    GeneratedFunction predicate(Expression expression) {
        Typing typing = new Typing(expression, scope, uses, PREDICATE_TEXT);
        Numeric term = typing.number();
        Code code = new Code(0);
        code.begin(expression);
        String isFalse = code.label();
        new NumberCode(code, tables, new Window(Code.OUT, 0, GeneratedFunction.SCRATCH)).jumpIf(term, false, isFalse);
        code.end(1);
        code.place(isFalse);
        code.end(0);
        return function(code, List.of(), typing.probesWhereTrue(term));
    }

    GeneratedFunction value(Expression expression) {
        Numeric term = new Typing(expression, scope, uses, STACK_TEXT).number();
        return writing(List.of(expression), List.of(term), 0);
    }

    /**
     * The function of {@link BeginValues}: it writes a word with a bit for each value that could not be read, then the
     * values.
     */
    GeneratedFunction begins(List<Expression> kept, int keptLimit, List<Expression> shown, int shownLimit) {
        List<Expression> all = Stream.concat(kept.stream(), shown.stream()).toList();
        if (all.size() > BeginValues.MAX_VALUES) {
            throw new ExpressionException(
                    all.get(BeginValues.MAX_VALUES).text(),
                    0,
                    "a latency can use at most " + BeginValues.MAX_VALUES + " values of its begin");
        }
        List<Term> terms = new ArrayList<>(bounded(kept, atBegin(kept), keptLimit));
        terms.addAll(bounded(shown, atBegin(shown), shownLimit));
        return writing(all, terms, Long.BYTES);
    }

    private List<Term> atBegin(List<Expression> expressions) {
        return expressions.stream()
                .map(expression ->
                        Typing.atBegin(expression, scope, uses, STACK_TEXT).output())
                .toList();
    }

    GeneratedFunction outputs(List<Expression> expressions, int limit) {
        List<Term> terms = new ArrayList<>();
        for (Expression expression : expressions) {
            terms.add(new Typing(expression, scope, uses, STACK_TEXT).output());
        }
        return writing(expressions, bounded(expressions, terms, limit), 0);
    }

    /**
     * The terms with their bounds as outputs: the default bounds, except for long names, which share the bytes left.
     *
     * @throws ExpressionException if they do not fit the limit
     */
    private static List<Term> bounded(List<Expression> expressions, List<Term> terms, int limit) {
        long names = terms.stream()
                .filter(term -> term instanceof Textual text && Texts.has(text, origin -> origin == BoundOrigin.LONG))
                .count();
        int left =
                limit - terms.stream().mapToInt(term -> size(bounded(term, 0))).sum();
        int more = names == 0 || left < 0 ? 0 : (int) (left / names) & -Long.BYTES;
        List<Term> bounded = terms.stream().map(term -> bounded(term, more)).toList();
        int offset = 0;
        for (int i = 0; i < bounded.size(); i++) {
            int size = size(bounded.get(i));
            if (size > limit - offset) {
                throw new ExpressionException(
                        expressions.get(i).text(),
                        0,
                        "needs " + size + " bytes, but only " + (limit - offset) + " of " + limit + " are left"
                                + (bounded.get(i) instanceof Textual ? "; str(…, n) limits a text" : ""));
            }
            offset += size;
        }
        return bounded;
    }

    private static Term bounded(Term term, int more) {
        return term instanceof Textual text ? Texts.shown(text, more) : term;
    }

    private static int size(Term term) {
        return term instanceof Textual text ? Math.max(1, text.bound()) + 7 & -8 : Long.BYTES;
    }

    /**
     * @param start the offset of the first output; if it is not 0, a value that can't be read sets its bit in the first
     *     word, and the function continues with the other values
     */
    private GeneratedFunction writing(List<Expression> expressions, List<? extends Term> terms, int start) {
        int reserved = terms.stream().anyMatch(StackNeed::comparesText) ? STACK_TEXT : 0;
        Code code = new Code(reserved);
        NumberCode numbers = new NumberCode(code, tables, new Window(R10, -reserved, reserved));
        TextCode texts = new TextCode(code, numbers, tables);
        List<Output> outputs = new ArrayList<>();
        int offset = start;
        for (int i = 0; i < terms.size(); i++) {
            Term term = terms.get(i);
            Expression expression = expressions.get(i);
            int size = size(term);
            if (term instanceof Textual text && Texts.mayBeCutBelow(text, size)) {
                throw new ExpressionException(
                        expression.text(),
                        0,
                        "limit the text of the begin by str(begin.…, n): it has fewer bytes than another text here,"
                                + " so a cut would go unnoticed");
            }
            code.begin(expression);
            if (start != 0) {
                code.beginPart();
            }
            if (term instanceof Textual text) {
                texts.read(text, new Window(Code.OUT, offset, size));
            } else {
                load(term, code, numbers);
                code.store(Code.OUT, offset, R0);
            }
            if (start != 0) {
                code.endOfPart(i);
            }
            boolean cut = term instanceof Textual text && Texts.has(text, origin -> origin != BoundOrigin.CHOSEN);
            outputs.add(new Output(expression.text(), term.type(), offset, size, cut));
            offset += size;
        }
        code.end(0);
        return function(code, outputs, scope.probes().keySet());
    }

    /** Loads a value of 8 bytes to R0. */
    private void load(Term term, Code code, NumberCode numbers) {
        switch (term) {
            case Textual _ -> throw new IllegalArgumentException("a text does not fit a register");
            case Numeric number -> numbers.evaluate(number);
            // The bits as they are; a float has them in the low 4 bytes.
            case Term.FloatArgument(int index, ValueType.FloatingPoint type) ->
                numbers.evaluate(new Term.Argument(index, new ValueType.Int(type.size(), false)));
            case Term.BeginBits(Term.Slot slot, ValueType type) -> numbers.evaluate(new Term.BeginNumber(slot, type));
            case Term.GroupName _ -> numbers.evaluate(new Term.FieldValue(EventField.CGROUP));
            case ProbeName(ValueType.Basic type)
            when type == ValueType.Basic.PROBE -> Probes.loadProbe(code, scope.probes());
            case ProbeName _ -> Probes.loadProvider(code, scope.probes());
        }
    }

    private GeneratedFunction function(Code code, List<Output> outputs, Set<Integer> probes) {
        return new GeneratedFunction(code.function(), code.arguments(), code.fields(), outputs, probes, uses);
    }
}
