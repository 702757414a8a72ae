package io.bpf4j.usdt.internal.arg;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The arithmetic that assemblers allow before a parenthesis: {@code -20}, {@code 24+ga}, {@code sym-8},
 * {@code 8+4-1}, {@code ga@GOTOFF+12}. Numbers are added up; at most one symbol may stand among them.
 *
 * @param value sum of the numbers
 * @param symbol the symbol, or null
 * @param relocation what stands after the symbol's {@code @}, such as {@code GOTOFF}, or null
 * @param negated whether the symbol is subtracted, which gives nothing useful
 */
record Expression(
        long value, @Nullable String symbol, @Nullable String relocation, boolean negated) {

    /** Empty for text that is no such sum, or whose numbers don't fit in 64 bits. The empty text is zero. */
    static Optional<Expression> parse(String text) {
        long value = 0;
        String symbol = null;
        String relocation = null;
        boolean negated = false;
        int at = 0;
        boolean first = true;
        while (at < text.length()) {
            boolean minus = false;
            boolean sign = false;
            while (at < text.length() && (text.charAt(at) == '+' || text.charAt(at) == '-')) {
                minus ^= text.charAt(at) == '-';
                sign = true;
                at++;
            }
            if (!sign && !first) {
                return Optional.empty();
            }
            first = false;
            int start = at;
            while (at < text.length() && isNameCharacter(text.charAt(at))) {
                at++;
            }
            if (at == start) {
                return Optional.empty();
            }
            if (isDigit(text.charAt(start))) {
                Optional<Long> number = number(text.substring(start, at), minus);
                if (number.isEmpty()) {
                    return Optional.empty();
                }
                value += number.get();
                continue;
            }
            if (symbol != null) {
                return Optional.empty();
            }
            symbol = text.substring(start, at);
            negated = minus;
            if (at < text.length() && text.charAt(at) == '@') {
                int from = ++at;
                while (at < text.length() && isNameCharacter(text.charAt(at))) {
                    at++;
                }
                relocation = text.substring(from, at);
            }
        }
        return Optional.of(new Expression(value, symbol, relocation, negated));
    }

    /**
     * A decimal or {@code 0x} number. Constants are 64 bits wide and of either sign: everything from -2^63 to
     * 2^64-1 is accepted, as its two's complement.
     */
    static Optional<Long> number(String digits, boolean minus) {
        boolean hex = digits.length() > 2 && digits.charAt(0) == '0' && (digits.charAt(1) | 0x20) == 'x';
        try {
            long magnitude =
                    hex ? Long.parseUnsignedLong(digits, 2, digits.length(), 16) : Long.parseUnsignedLong(digits);
            if (minus && magnitude < 0 && magnitude != Long.MIN_VALUE) {
                return Optional.empty();
            }
            return Optional.of(minus ? -magnitude : magnitude);
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** A signed number on its own: {@code -9}. Empty for anything else. */
    static Optional<Long> signedNumber(String text) {
        boolean minus = text.startsWith("-");
        String digits = minus ? text.substring(1) : text;
        return digits.isEmpty() || !isDigit(digits.charAt(0)) ? Optional.empty() : number(digits, minus);
    }

    /** {@code symbol+8}, {@code symbol-8}, {@code symbol}; never begins with a dollar, which would be a constant. */
    static String print(String symbol, long offset) {
        if (symbol.startsWith("$")) {
            return offset + "+" + symbol;
        }
        return offset == 0 ? symbol : symbol + (offset < 0 ? "" : "+") + offset;
    }

    static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    /** Letters, digits and what gas and clang allow in a symbol without quoting it; all beyond ASCII is. */
    private static boolean isNameCharacter(char c) {
        return isDigit(c)
                || (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || c == '_'
                || c == '.'
                || c == '$'
                || c >= 0x80;
    }
}
