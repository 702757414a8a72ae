package io.bpf4j.usdt.site;

import java.math.BigInteger;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The arithmetic that assemblers allow in place of a number: {@code -20}, {@code 24+ga}, {@code sym-8}, {@code 8+4-1},
 * {@code ga@GOTOFF+12}, {@code (4-1)*8}. Its result is a number, and optionally a symbol whose address is added. {@link
 * ExpressionParser} parses it.
 *
 * <p>Tested by {@code UsdtArgTest}.
 *
 * @param value the number: -2^63 to 2^64-1, of which the upper half is converted to its two's complement
 * @param symbol the symbol, or null
 * @param relocation the text after the symbol's {@code @}, such as {@code GOTOFF}, or null
 * @param negated whether the symbol is subtracted, which is not a usable address
 */
record Expression(
        long value, @Nullable String symbol, @Nullable String relocation, boolean negated) {

    /** Empty for text that is not such arithmetic, or whose numbers don't fit in 64 bits. The empty text is zero. */
    static Optional<Expression> parse(String text) {
        return text.isEmpty() ? Optional.of(new Expression(0, null, null, false)) : new ExpressionParser(text).parse();
    }

    /** A single signed number: {@code -9}. Empty for anything else. */
    static Optional<Long> signedNumber(String text) {
        boolean minus = text.startsWith("-");
        String digits = minus ? text.substring(1) : text;
        if (digits.isEmpty() || !isDigit(digits.charAt(0))) {
            return Optional.empty();
        }
        BigInteger number = number(digits);
        return number == null ? Optional.empty() : narrow(minus ? number.negate() : number);
    }

    /**
     * A number without a sign, by the rules of the assembler: {@code 0x10} is hexadecimal, and {@code 010} is octal,
     * although no compiler writes it. Null if the text is not a number, or clearly has more than 64 bits.
     */
    static @Nullable BigInteger number(String digits) {
        boolean hex = digits.length() > 2 && digits.charAt(0) == '0' && (digits.charAt(1) | 0x20) == 'x';
        boolean octal = !hex && digits.length() > 1 && digits.charAt(0) == '0';
        String plain = hex ? digits.substring(2) : digits;
        int radix = hex ? 16 : octal ? 8 : 10;
        // 22 octal digits hold 64 bits; this bounds the cost of longer texts. Java accepts more characters as digits
        // than an assembler.
        if (plain.length() > 23 || !plain.chars().allMatch(c -> c < 0x80 && Character.digit(c, radix) >= 0)) {
            return null;
        }
        return new BigInteger(plain, radix);
    }

    /**
     * Constants have 64 bits, and compilers write them signed or unsigned: every number from -2^63 to 2^64-1 is
     * accepted, as its two's complement. Empty for other numbers.
     */
    static Optional<Long> narrow(BigInteger exact) {
        boolean fits = exact.signum() < 0 ? exact.bitLength() <= 63 : exact.bitLength() <= 64;
        return fits ? Optional.of(exact.longValue()) : Optional.empty();
    }

    /**
     * {@code symbol+8}, {@code symbol-8}, {@code symbol}; never begins with a dollar sign, which would mark a constant.
     */
    static String print(String symbol, long offset) {
        if (symbol.startsWith("$")) {
            return offset + "+" + symbol;
        }
        return offset == 0 ? symbol : symbol + (offset < 0 ? "" : "+") + offset;
    }

    static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
