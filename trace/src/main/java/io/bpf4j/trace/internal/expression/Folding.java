package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.trace.internal.expression.Term.Constant;
import io.bpf4j.trace.internal.expression.Term.Numeric;
import io.bpf4j.trace.internal.expression.Term.Textual;
import java.util.SortedSet;

/**
 * Makes terms, and computes those whose operands are constants. So a condition that remains is not a constant, and
 * neither of its branches is unreachable, which the verifier would refuse.
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
final class Folding {
    private Folding() {}

    static Numeric truth(boolean value) {
        return new Constant(value ? 1 : 0, ValueType.Basic.BOOL);
    }

    static Numeric arithmetic(Operator operator, Numeric left, Numeric right, ValueType.Int type) {
        return left instanceof Constant(long a, ValueType _) && right instanceof Constant(long b, ValueType _)
                ? new Constant(operator.apply(a, b, type.isU64()), type)
                : new Term.Arithmetic(operator, left, right, type);
    }

    static Numeric compare(Relation relation, Numeric left, Numeric right) {
        boolean unsigned = Typing.common(left.type(), right.type()).isU64();
        return left instanceof Constant(long a, ValueType _) && right instanceof Constant(long b, ValueType _)
                ? truth(relation.holds(a, b, unsigned))
                : new Term.Comparison(relation, unsigned, left, right);
    }

    static Numeric convert(Numeric operand, ValueType.Int type) {
        if (operand instanceof Constant(long value, ValueType _)) {
            return new Constant(extend(value, type), type);
        }
        return operand.type().equals(type) ? operand : new Term.Converted(operand, type);
    }

    /** Extends the low bytes of a number to 64 bits. */
    static long extend(long value, ValueType.Int type) {
        int unused = 64 - 8 * type.size();
        return type.signed() ? value << unused >> unused : value << unused >>> unused;
    }

    static Numeric not(Numeric operand) {
        return operand instanceof Constant(long value, ValueType _) ? truth(value == 0) : new Term.Not(operand);
    }

    static Numeric both(Numeric left, Numeric right) {
        if (left instanceof Constant(long value, ValueType _)) {
            return value == 0 ? truth(false) : asTruth(right);
        }
        return right instanceof Constant(long value, ValueType _) && value != 0
                ? asTruth(left)
                : new Term.Both(left, right);
    }

    static Numeric either(Numeric left, Numeric right) {
        if (left instanceof Constant(long value, ValueType _)) {
            return value != 0 ? truth(true) : asTruth(right);
        }
        return right instanceof Constant(long value, ValueType _) && value == 0
                ? asTruth(left)
                : new Term.Either(left, right);
    }

    private static Numeric asTruth(Numeric operand) {
        return operand.type() == ValueType.Basic.BOOL
                ? operand
                : compare(Relation.UNEQUAL, operand, new Constant(0, ValueType.Int.S64));
    }

    static Numeric choice(Numeric condition, Numeric then, Numeric otherwise, ValueType type) {
        return condition instanceof Constant(long value, ValueType _)
                ? retyped(value != 0 ? then : otherwise, type)
                : new Term.Choice(condition, then, otherwise, type);
    }

    private static Numeric retyped(Numeric term, ValueType type) {
        return type instanceof ValueType.Int number ? convert(term, number) : term;
    }

    static Textual choice(Numeric condition, Textual then, Textual otherwise) {
        if (condition instanceof Constant(long value, ValueType _)) {
            return value != 0 ? then : otherwise;
        }
        return new Term.TextChoice(condition, then, otherwise);
    }

    /**
     * Whether the event's probe has one of the numbers.
     *
     * @param all how many probes the expression is evaluated for
     */
    static Numeric ofProbe(SortedSet<Integer> numbers, int all) {
        return numbers.isEmpty() || numbers.size() == all ? truth(!numbers.isEmpty()) : new Term.OfProbe(numbers);
    }
}
