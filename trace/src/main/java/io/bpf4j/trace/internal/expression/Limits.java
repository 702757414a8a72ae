package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.trace.internal.expression.Term.Constant;
import io.bpf4j.trace.internal.expression.Term.Numeric;
import java.math.BigInteger;
import java.util.Optional;

/**
 * Finds comparisons with a constant whose result the type of the other side decides, such as {@code retval < 0}: a
 * register is an unsigned number, so this is never true. Such a filter would count nothing and look like an answer.
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
final class Limits {
    private Limits() {}

    /**
     * Why a comparison can't mean what it says; empty if it can.
     *
     * @param name of the side that is not constant, if it has one
     */
    static Optional<String> problem(Relation relation, Numeric left, Numeric right, Optional<String> name) {
        if (left instanceof Constant == right instanceof Constant) {
            return Optional.empty();
        }
        return right instanceof Constant constant
                ? problem(relation, left, constant, name)
                : problem(relation.mirrored(), right, (Constant) left, name);
    }

    private static Optional<String> problem(Relation relation, Numeric term, Constant constant, Optional<String> name) {
        if (!(term.type() instanceof ValueType.Int type)
                || (type.signed() && constant.type().isU64())) {
            // A signed number is compared as an unsigned one if the constant is: C's rule, which has a use.
            return Optional.empty();
        }
        boolean negative = constant.value() < 0 && !constant.type().isU64();
        boolean equality = relation == Relation.EQUAL || relation == Relation.UNEQUAL;
        String casts = type.isU64() ? "(int)… or (s64)…" : "(" + new ValueType.Int(type.size(), true) + ")…";
        String subject = name.map(known -> known + " is " + withArticle(type) + ", which")
                .orElse(withArticle(type));
        String advice = "; if it is meant as a signed number, write " + casts;
        if (type.isU64() && negative && equality) {
            // In C -1 is the largest number then. Only the width of what a register holds is unknown.
            return type.register()
                    ? Optional.of("this compares a whole register, an unsigned number of 64 bits, and a negative value"
                            + " of 32 bits does not fill it: write " + casts)
                    : Optional.empty();
        }
        if (type.isU64() && negative) {
            return Optional.of(subject + " is never negative" + advice);
        }
        BigInteger least = type.signed() ? power(8 * type.size() - 1).negate() : BigInteger.ZERO;
        BigInteger most =
                power(type.signed() ? 8 * type.size() - 1 : 8 * type.size()).subtract(BigInteger.ONE);
        BigInteger value = constant.type().isU64()
                ? new BigInteger(Long.toUnsignedString(constant.value()))
                : BigInteger.valueOf(constant.value());
        boolean atLeast = holds(relation, least.compareTo(value));
        boolean atMost = holds(relation, most.compareTo(value));
        // An equality holds for one number, which is or isn't among those of the type.
        boolean decided = equality ? value.compareTo(least) < 0 || value.compareTo(most) > 0 : atLeast == atMost;
        if (!decided) {
            return Optional.empty();
        }
        boolean always = equality ? relation == Relation.UNEQUAL : atLeast;
        return Optional.of("this is " + (always ? "always" : "never") + " true, because " + subject + " is from "
                + least + " to " + most + (type.signed() ? "" : advice));
    }

    /** The type for a sentence: {@code an s32}, {@code a u32}. */
    static String withArticle(ValueType.Int type) {
        return (type.signed() ? "an " : "a ") + type;
    }

    private static boolean holds(Relation relation, int order) {
        return relation.holds(order, 0, false);
    }

    private static BigInteger power(int exponent) {
        return BigInteger.TWO.pow(exponent);
    }
}
