package io.bpf4j.usdt.site;

import java.math.BigInteger;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Parses an {@link Expression} as the GNU assembler does.
 *
 * <p>Its precedence is not that of C (manual of gas, "Infix Operators"): {@code * / << >>} bind tightest, then {@code |
 * & ^}, then {@code + -}; the signs {@code - + ~} stand before an operand, and parentheses group. The remainder {@code
 * %} is not supported, because it begins a register.
 *
 * <p>A symbol is an address that is not known here, so it can only be added or subtracted, and an expression has at
 * most one: {@code a-b} would need both addresses.
 *
 * <p>Computation is exact, and an intermediate result beyond 64 bits is refused, not wrapped. The nesting depth of
 * parentheses is limited, so that no text exhausts the stack.
 *
 * <p>Tested by {@code UsdtArgTest}.
 */
final class ExpressionParser {
    private static final int MAX_DEPTH = 32;

    /** The precedence of operators: a higher number binds tighter. */
    private static final int ADDITION = 0;

    private static final int BITS = 1;
    private static final int MULTIPLICATION = 2;
    private static final int NONE = -1;

    private final String text;
    private int at;
    private int depth;

    /** An intermediate value: exact, with at most one symbol. */
    private record Sum(
            BigInteger value,
            @Nullable String symbol,
            @Nullable String relocation,
            boolean negated) {
        static Sum of(BigInteger value) {
            return new Sum(value, null, null, false);
        }

        Sum negate() {
            return new Sum(value.negate(), symbol, relocation, !negated);
        }
    }

    ExpressionParser(String text) {
        this.text = text;
    }

    Optional<Expression> parse() {
        Sum sum = operators(ADDITION);
        if (sum == null || at < text.length()) {
            return Optional.empty();
        }
        return Expression.narrow(sum.value())
                .map(v -> new Expression(v, sum.symbol(), sum.relocation(), sum.symbol() != null && sum.negated()));
    }

    /** Operands joined by operators of this precedence or a higher one. Null for any other text. */
    private @Nullable Sum operators(int group) {
        Sum left = group == MULTIPLICATION ? signed() : operators(group + 1);
        while (left != null && at < text.length() && groupOf(text.charAt(at)) == group) {
            char operator = text.charAt(at++);
            if (operator == '<' || operator == '>') {
                if (at == text.length() || text.charAt(at++) != operator) {
                    return null;
                }
            }
            Sum right = group == MULTIPLICATION ? signed() : operators(group + 1);
            left = right == null ? null : inRange(apply(operator, left, right));
        }
        return left;
    }

    private static int groupOf(char c) {
        return switch (c) {
            case '+', '-' -> ADDITION;
            case '|', '&', '^' -> BITS;
            case '*', '/', '<', '>' -> MULTIPLICATION;
            default -> NONE;
        };
    }

    private @Nullable Sum signed() {
        boolean minus = false;
        while (at < text.length() && (text.charAt(at) == '-' || text.charAt(at) == '+')) {
            minus ^= text.charAt(at++) == '-';
        }
        boolean complement = at < text.length() && text.charAt(at) == '~';
        if (complement) {
            at++;
        }
        Sum operand = operand();
        if (operand == null || (complement && operand.symbol() != null)) {
            return null;
        }
        Sum whole = complement ? Sum.of(operand.value().not()) : operand;
        return inRange(minus ? whole.negate() : whole);
    }

    private @Nullable Sum operand() {
        if (at < text.length() && text.charAt(at) == '(') {
            if (depth == MAX_DEPTH) {
                return null;
            }
            at++;
            depth++;
            Sum inside = operators(ADDITION);
            depth--;
            if (inside == null || at == text.length() || text.charAt(at) != ')') {
                return null;
            }
            at++;
            return inside;
        }
        String name = name();
        if (name.isEmpty()) {
            return null;
        }
        if (Expression.isDigit(name.charAt(0))) {
            BigInteger number = Expression.number(name);
            return number == null ? null : Sum.of(number);
        }
        if (at < text.length() && text.charAt(at) == '@') {
            at++;
            return new Sum(BigInteger.ZERO, name, name(), false);
        }
        return new Sum(BigInteger.ZERO, name, null, false);
    }

    private String name() {
        int start = at;
        while (at < text.length() && isNameCharacter(text.charAt(at))) {
            at++;
        }
        return text.substring(start, at);
    }

    private static @Nullable Sum inRange(@Nullable Sum sum) {
        return sum == null || Expression.narrow(sum.value()).isEmpty() ? null : sum;
    }

    private static @Nullable Sum apply(char operator, Sum left, Sum right) {
        if (operator == '+') {
            return add(left, right);
        }
        if (operator == '-') {
            return add(left, right.negate());
        }
        if (left.symbol() != null || right.symbol() != null) {
            return null;
        }
        BigInteger a = left.value();
        BigInteger b = right.value();
        boolean isCount = b.signum() >= 0 && b.bitLength() <= 6;
        return switch (operator) {
            case '|' -> Sum.of(a.or(b));
            case '&' -> Sum.of(a.and(b));
            case '^' -> Sum.of(a.xor(b));
            case '*' -> Sum.of(a.multiply(b));
            case '/' -> b.signum() == 0 ? null : Sum.of(a.divide(b));
            case '<' -> isCount ? Sum.of(a.shiftLeft(b.intValue())) : null;
            // Assemblers treat a negative number differently.
            case '>' -> isCount && a.signum() >= 0 ? Sum.of(a.shiftRight(b.intValue())) : null;
            default -> null;
        };
    }

    private static @Nullable Sum add(Sum left, Sum right) {
        BigInteger value = left.value().add(right.value());
        if (right.symbol() == null) {
            return new Sum(value, left.symbol(), left.relocation(), left.negated());
        }
        return left.symbol() != null ? null : new Sum(value, right.symbol(), right.relocation(), right.negated());
    }

    /**
     * Letters, digits and other characters that gas and clang allow in an unquoted symbol, among them all non-ASCII
     * characters.
     */
    private static boolean isNameCharacter(char c) {
        return Expression.isDigit(c)
                || (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || c == '_'
                || c == '.'
                || c == '$'
                || c >= 0x80;
    }
}
