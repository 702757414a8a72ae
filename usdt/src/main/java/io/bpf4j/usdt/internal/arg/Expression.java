package io.bpf4j.usdt.internal.arg;

import java.math.BigInteger;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The arithmetic that assemblers allow where a number stands: {@code -20}, {@code 24+ga}, {@code sym-8}, {@code 8+4-1},
 * {@code ga@GOTOFF+12}, {@code (4-1)*8}. It comes down to a number, and perhaps a symbol whose address is to be added.
 * {@link ExpressionParser} reads it.
 *
 * @param value the number: -2^63 to 2^64-1, of which the upper half stands for its two's complement
 * @param symbol the symbol, or null
 * @param relocation what stands after the symbol's {@code @}, such as {@code GOTOFF}, or null
 * @param negated whether the symbol is subtracted, which gives nothing useful
 */
record Expression(
        long value, @Nullable String symbol, @Nullable String relocation, boolean negated) {

    /** Empty for text that is no such arithmetic, or whose numbers don't fit in 64 bits. The empty text is zero. */
    static Optional<Expression> parse(String text) {
        return text.isEmpty() ? Optional.of(new Expression(0, null, null, false)) : new ExpressionParser(text).parse();
    }

    /** A signed number on its own: {@code -9}. Empty for anything else. */
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
     * A number without a sign, by the rules of the assembler: {@code 0x10} is hexadecimal, and so is {@code 010} octal,
     * although no compiler writes it. Null if it is none, or clearly has more than 64 bits.
     */
    static @Nullable BigInteger number(String digits) {
        boolean hex = digits.length() > 2 && digits.charAt(0) == '0' && (digits.charAt(1) | 0x20) == 'x';
        boolean octal = !hex && digits.length() > 1 && digits.charAt(0) == '0';
        String plain = hex ? digits.substring(2) : digits;
        int radix = hex ? 16 : octal ? 8 : 10;
        // 22 octal digits hold 64 bits; a megabyte of them is not worth the arithmetic. And to Java, more are digits
        // than to an assembler.
        if (plain.length() > 23 || !plain.chars().allMatch(c -> c < 0x80 && Character.digit(c, radix) >= 0)) {
            return null;
        }
        return new BigInteger(plain, radix);
    }

    /**
     * Constants are 64 bits wide and of either sign, and compilers write them both ways: everything from -2^63 to 2^64-1
     * is taken, as its two's complement. Empty for what is beyond.
     */
    static Optional<Long> narrow(BigInteger exact) {
        boolean fits = exact.signum() < 0 ? exact.bitLength() <= 63 : exact.bitLength() <= 64;
        return fits ? Optional.of(exact.longValue()) : Optional.empty();
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
}
