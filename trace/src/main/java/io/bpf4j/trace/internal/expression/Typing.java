package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.expression.ExpressionException;
import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.trace.internal.expression.Term.Constant;
import io.bpf4j.trace.internal.expression.Term.Numeric;
import io.bpf4j.trace.internal.expression.Term.ProbeName;
import io.bpf4j.trace.internal.expression.Term.Textual;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Gives each part of an expression a type and a meaning, or reports why that is impossible. <i>Confined.</i>
 *
 * <p>This class types the operators. {@link Names} types names, {@link Texts} types texts and their comparisons, {@link
 * Guards} finds the probes for which a part is evaluated, and {@link Folding} makes the terms and computes constants.
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
final class Typing {
    private final Expression expression;
    private final Scope scope;
    private final Names names;
    private final Texts texts;
    private final Guards guards;

    /** The probes for which the part that is typed now is evaluated. */
    private BitSet reached;

    /** Whether the expression is evaluated at the begin of a pair, so that all names are values of the begin. */
    private final boolean atBegin;

    /**
     * @param uses receives what the names are found to be
     * @param room bytes of memory into which text can be read to compare it
     */
    Typing(Expression expression, Scope scope, List<NameUse> uses, int room) {
        this(expression, scope, uses, room, false);
    }

    /** A typing of an expression that is evaluated at a pair's begin. */
    static Typing atBegin(Expression expression, Scope scope, List<NameUse> uses, int room) {
        return new Typing(expression, scope, uses, room, true);
    }

    private Typing(Expression expression, Scope scope, List<NameUse> uses, int room, boolean atBegin) {
        this.expression = expression;
        this.scope = scope;
        this.atBegin = atBegin;
        this.names = new Names(expression, scope, uses);
        this.texts = new Texts(this, scope, uses, room);
        Set<Integer> all = new HashSet<>(scope.probes().keySet());
        if (scope.isOpen()) {
            all.add(Scope.LATER);
        }
        this.guards = new Guards(all);
        this.reached = guards.all();
    }

    /** The whole expression, of any type. */
    Term output() {
        return term(expression.tree());
    }

    /** The whole expression, which must be a number or a truth value. */
    Numeric number() {
        return number(expression.tree());
    }

    /** The probes for which the whole expression can be true. */
    Set<Integer> probesWhereTrue(Numeric whole) {
        return guards.among(guards.all(), whole, true).stream().boxed().collect(Collectors.toUnmodifiableSet());
    }

    Term term(Syntax syntax) {
        if (!atBegin && syntax.isOfBegin()) {
            return ofBegin(syntax);
        }
        return switch (syntax) {
            case Syntax.Numeral(int _, long value, ValueType.Int type) -> new Constant(value, type);
            case Syntax.Truth(int _, boolean value) -> Folding.truth(value);
            case Syntax.Text(int _, Bytes bytes) -> new Term.Literal(bytes);
            case Syntax.Name name -> names.term(name, reached);
            case Syntax.Unary unary -> unary(unary);
            case Syntax.Binary binary -> binary(binary);
            case Syntax.Conditional conditional -> conditional(conditional);
            case Syntax.Cast(int _, ValueType.Int type, Syntax operand) -> Folding.convert(number(operand), type);
            case Syntax.PointerCast(int at, ValueType.Int type, Syntax _) ->
                throw error(
                        at,
                        "a pointer can only be read: *(" + type + "*)…; to compute with the address, omit the cast");
            case Syntax.Call call -> texts.call(call);
        };
    }

    /** A part that was evaluated at the pair's begin. */
    private Term ofBegin(Syntax part) {
        BeginValues values = scope.begin()
                .orElseThrow(() -> error(
                        part.at(),
                        "only the filter, the keys and the shown values of a latency can use values of its begin"));
        Output output = values.find(part);
        Term.Slot slot = new Term.Slot(output.offset(), values.bit(output));
        return switch (output.type()) {
            case ValueType.Basic.TEXT -> new Term.BeginText(slot, output.size(), output.cuts());
            case ValueType.Basic.BOOL -> new Term.BeginNumber(slot, output.type());
            case ValueType.Int _ -> new Term.BeginNumber(slot, output.type());
            case ValueType.Basic _, ValueType.FloatingPoint _ -> new Term.BeginBits(slot, output.type());
        };
    }

    /** A part that must be a number or a truth value. */
    Numeric number(Syntax syntax) {
        return number(term(syntax), syntax);
    }

    private Numeric number(Term term, Syntax syntax) {
        if (term instanceof Numeric numeric) {
            return numeric;
        }
        requireNoFloat(term, syntax);
        if (Term.GroupName.TYPES.contains(term.type())) {
            throw error(syntax.at(), Texts.NOT_IN_KERNEL.formatted(term.type()));
        }
        throw error(
                syntax.at(),
                named(syntax).orElse("this") + " is " + term.type() + ", not a number"
                        + (term instanceof Term.Literal ? "" : "; compare it: … == \"text\", … ~ \"pattern*\""));
    }

    /** BPF has no floating point, and would treat the bits of such a number as a whole number. */
    private void requireNoFloat(Term term, Syntax syntax) {
        if (term instanceof Term.BeginBits(Term.Slot _, ValueType.FloatingPoint _)) {
            throw error(
                    syntax.at(),
                    "this is a floating-point number of the begin; it can only be shown or be a key, unchanged");
        }
        if (term instanceof Term.FloatArgument(int index, ValueType.FloatingPoint _)) {
            throw error(
                    syntax.at(),
                    (syntax instanceof Syntax.Name name ? name.written() : "arg" + index)
                            + " is a floating-point number; expressions compute with whole numbers, so it can only be"
                            + " shown or be a key, unchanged");
        }
    }

    ExpressionException error(int at, String reason) {
        return new ExpressionException(expression.text(), at, reason);
    }

    private Term unary(Syntax.Unary unary) {
        if (unary.operator().equals("*")) {
            if (unary.operand() instanceof Syntax.PointerCast(int _, ValueType.Int type, Syntax address)) {
                return new Term.Memory(number(address), type);
            }
            throw error(
                    unary.at(), "the type of the value is missing: write *(u64*)… for an unsigned number of 64 bits");
        }
        Numeric operand = number(unary.operand());
        return switch (unary.operator()) {
            case "!" -> Folding.not(operand);
            case "-" -> arithmetic(Operator.SUB, new Constant(0, ValueType.Int.S64), operand);
            case "~" -> arithmetic(Operator.XOR, operand, new Constant(-1, ValueType.Int.S64));
            default -> throw new AssertionError(unary.operator());
        };
    }

    private Term binary(Syntax.Binary binary) {
        String symbol = binary.operator();
        switch (symbol) {
            case "~", "!~" -> {
                Numeric matches = texts.matches(binary);
                return symbol.equals("~") ? matches : Folding.not(matches);
            }
            case "&&" -> {
                Numeric left = number(binary.left());
                return Folding.both(left, number(guarded(left, true, binary.right()), binary.right()));
            }
            case "||" -> {
                Numeric left = number(binary.left());
                return Folding.either(left, number(guarded(left, false, binary.right()), binary.right()));
            }
            default -> {
                // All other operators compute or compare.
            }
        }
        return Operator.exists(symbol)
                ? arithmetic(Operator.of(symbol), number(binary.left()), number(binary.right()))
                : comparison(Relation.of(symbol), binary);
    }

    /** Compares two numbers, or two texts. */
    private Term comparison(Relation relation, Syntax.Binary binary) {
        Term left = term(binary.left());
        Term right = term(binary.right());
        requireNoFloat(left, binary.left());
        requireNoFloat(right, binary.right());
        if (!(left instanceof Numeric) && !(right instanceof Numeric)) {
            if (relation != Relation.EQUAL && relation != Relation.UNEQUAL) {
                throw error(binary.at(), "text has no order; compare it with ==, != or ~");
            }
            Numeric same = texts.same(binary, left, right);
            return relation == Relation.EQUAL ? same : Folding.not(same);
        }
        if (left instanceof Numeric leftNumber && right instanceof Numeric rightNumber) {
            Syntax variable = leftNumber instanceof Constant ? binary.right() : binary.left();
            Limits.problem(relation, leftNumber, rightNumber, named(variable)).ifPresent(problem -> {
                throw error(binary.at(), problem);
            });
            return Folding.compare(relation, leftNumber, rightNumber);
        }
        throw error(
                binary.at(),
                "can't compare " + typed(left, binary.left()) + " with " + typed(right, binary.right())
                        + advice(left, right));
    }

    /** Advice for the most common mistake: comparing an address with text. */
    private static String advice(Term left, Term right) {
        Term number = left instanceof Numeric ? left : right;
        return number.type().equals(ValueType.Basic.BOOL) ? "" : "; if the number is the address of text, write str(…)";
    }

    private static Numeric arithmetic(Operator operator, Numeric left, Numeric right) {
        ValueType.Int type = operator.isShift() ? wide(left.type()) : common(left.type(), right.type());
        return Folding.arithmetic(operator, left, right, type);
    }

    /** A part that is evaluated only if the condition has that value. */
    private Term guarded(Numeric condition, boolean value, Syntax part) {
        BitSet before = reached;
        reached = guards.among(before, condition, value);
        Term term = term(part);
        reached = before;
        return term;
    }

    private Term conditional(Syntax.Conditional conditional) {
        Numeric condition = number(conditional.condition());
        Term then = guarded(condition, true, conditional.then());
        Term otherwise = guarded(condition, false, conditional.otherwise());
        requireNoFloat(then, conditional.then());
        requireNoFloat(otherwise, conditional.otherwise());
        if (then instanceof Numeric a && otherwise instanceof Numeric b) {
            ValueType type = a.type().equals(b.type()) ? a.type() : common(a.type(), b.type());
            return Folding.choice(condition, a, b, type);
        }
        if (then instanceof Textual a && otherwise instanceof Textual b) {
            return Folding.choice(condition, a, b);
        }
        if ((then instanceof ProbeName || then instanceof Term.GroupName) && then.equals(otherwise)) {
            return then;
        }
        throw error(
                conditional.at(),
                "can't choose between " + typed(then, conditional.then()) + " and "
                        + typed(otherwise, conditional.otherwise()));
    }

    /** The part as it is written, if it is a name; a message shows where other parts are. */
    private static Optional<String> named(Syntax part) {
        return part instanceof Syntax.Name name ? Optional.of(name.written()) : Optional.empty();
    }

    /** The type of a part, and its name, if it has one. */
    private static String typed(Term term, Syntax part) {
        String type = term.type() instanceof ValueType.Int number
                ? Limits.withArticle(number)
                : term.type().toString();
        return named(part).map(name -> name + " (" + type + ")").orElse(type);
    }

    /** The type of an operation on two numbers, each of which is extended to 64 bits by its own sign. */
    static ValueType.Int common(ValueType left, ValueType right) {
        return left.isU64() || right.isU64() ? ValueType.Int.U64 : ValueType.Int.S64;
    }

    private static ValueType.Int wide(ValueType type) {
        return common(type, type);
    }
}
