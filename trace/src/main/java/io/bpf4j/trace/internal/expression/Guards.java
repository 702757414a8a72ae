package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.trace.internal.expression.Term.Constant;
import io.bpf4j.trace.internal.expression.Term.Numeric;
import java.util.BitSet;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Finds the probes for which a condition can be true, and those for which it can be false. {@code &&}, {@code ||} and
 * {@code ?:} evaluate only the operands that they need, so in {@code probe == "db:end" && rows > 5} only {@code db:end}
 * needs to have {@code rows}. <i>Confined.</i>
 *
 * <p>In a set of probes, bit n stands for probe n. Each term is examined once, and its sets are kept.
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
final class Guards {
    private final BitSet all;
    private final IdentityHashMap<Numeric, BitSet> whereTrue = new IdentityHashMap<>();
    private final IdentityHashMap<Numeric, BitSet> whereFalse = new IdentityHashMap<>();

    /** @param all the probes that the expression is evaluated for */
    Guards(Set<Integer> all) {
        this.all = new BitSet();
        all.forEach(this.all::set);
    }

    /** The probes that the expression is evaluated for. */
    BitSet all() {
        return copy(all);
    }

    /** The probes of a set for which the condition can have a value. */
    BitSet among(BitSet probes, Numeric condition, boolean value) {
        return and(probes, probes(condition, value));
    }

    /** The probes for which the condition can have a value. The caller must not change the result. */
    private BitSet probes(Numeric condition, boolean value) {
        IdentityHashMap<Numeric, BitSet> known = value ? whereTrue : whereFalse;
        BitSet found = known.get(condition);
        if (found == null) {
            found = find(condition, value);
            known.put(condition, found);
        }
        return found;
    }

    private BitSet find(Numeric condition, boolean value) {
        return switch (condition) {
            case Constant(long number, ValueType _) -> (number != 0) == value ? all : new BitSet();
            case Term.OfProbe(var numbers) -> {
                BitSet some = new BitSet();
                numbers.forEach(some::set);
                BitSet result = copy(all);
                if (value) {
                    result.and(some);
                } else {
                    result.andNot(some);
                }
                yield result;
            }
            case Term.Not(Numeric operand) -> probes(operand, !value);
            case Term.Both(Numeric left, Numeric right) -> junction(left, right, value, value);
            case Term.Either(Numeric left, Numeric right) -> junction(left, right, value, !value);
            case Term.Choice(Numeric chosenBy, Numeric then, Numeric otherwise, ValueType _) -> {
                BitSet result = and(probes(chosenBy, true), probes(then, value));
                result.or(and(probes(chosenBy, false), probes(otherwise, value)));
                yield result;
            }
            default -> all;
        };
    }

    private BitSet junction(Numeric left, Numeric right, boolean value, boolean needsBoth) {
        BitSet a = probes(left, value);
        BitSet b = probes(right, value);
        if (needsBoth) {
            return and(a, b);
        }
        BitSet result = copy(a);
        result.or(b);
        return result;
    }

    private static BitSet and(BitSet a, BitSet b) {
        BitSet result = copy(a);
        result.and(b);
        return result;
    }

    private static BitSet copy(BitSet set) {
        return (BitSet) set.clone();
    }
}
