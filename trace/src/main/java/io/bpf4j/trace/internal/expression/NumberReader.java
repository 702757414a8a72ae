package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.expression.ExpressionException;
import io.bpf4j.trace.expression.ValueType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;

/**
 * Reads a number, with its unit: {@code 50}, {@code 0xff}, {@code 4KiB}, {@code 1.5ms}. <i>Confined.</i>
 *
 * <p>A time is a number of nanoseconds and a size is a number of bytes, because values are measured in these units.
 *
 * <p>Tested by {@code ExpressionTest}.
 */
final class NumberReader {
    private static final Map<String, Long> UNITS = Map.ofEntries(
            Map.entry("ns", 1L),
            Map.entry("us", 1_000L),
            Map.entry("ms", 1_000_000L),
            Map.entry("s", 1_000_000_000L),
            Map.entry("m", 60_000_000_000L),
            Map.entry("h", 3_600_000_000_000L),
            Map.entry("B", 1L),
            Map.entry("KB", 1_000L),
            Map.entry("MB", 1_000_000L),
            Map.entry("GB", 1_000_000_000L),
            Map.entry("KiB", 1L << 10),
            Map.entry("MiB", 1L << 20),
            Map.entry("GiB", 1L << 30));

    private static final BigInteger MAX_U64 = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
    private static final BigInteger MAX_S64 = BigInteger.valueOf(Long.MAX_VALUE);

    /** More digits than any number of 64 bits needs. Bounds the work for a long text of digits. */
    private static final int MAX_DIGITS = 64;

    private final String text;
    private final int start;
    private int at;

    NumberReader(String text, int start) {
        this.text = text;
        this.start = start;
        this.at = start;
    }

    /** Index of the first character after the number. */
    int end() {
        return at;
    }

    Token.Numeral read() {
        if (text.startsWith("0x", start) || text.startsWith("0X", start)) {
            at += 2;
            String digits = word();
            if (!digits.matches("[0-9a-fA-F]{1," + MAX_DIGITS + "}")) {
                throw error("this is not a hexadecimal number");
            }
            return number(new BigInteger(digits, 16));
        }
        String whole = digits();
        if (whole.length() > 1 && whole.startsWith("0")) {
            throw error("a number with a leading 0 is octal in C, and not supported here");
        }
        boolean decimals = at + 1 < text.length() && text.charAt(at) == '.' && Lexer.isDigit(text.charAt(at + 1));
        String fraction = "";
        if (decimals) {
            at++;
            fraction = digits();
        }
        if (whole.length() + fraction.length() > MAX_DIGITS) {
            throw error("this number has too many digits");
        }
        int unitAt = at;
        String unit = word();
        if (!unit.isEmpty() && !UNITS.containsKey(unit)) {
            throw new ExpressionException(
                    text,
                    unitAt,
                    "unknown unit '" + unit
                            + "'; times have ns, us, ms, s, m or h, sizes have B, KB, MB, GB, KiB, MiB or GiB");
        }
        if (!decimals) {
            return number(new BigInteger(whole).multiply(BigInteger.valueOf(UNITS.getOrDefault(unit, 1L))));
        }
        BigDecimal value = new BigDecimal(whole + "." + fraction)
                .multiply(BigDecimal.valueOf(UNITS.getOrDefault(unit, 1L)))
                .stripTrailingZeros();
        if (value.scale() > 0) {
            throw error(
                    unit.isEmpty()
                            ? "a number without a unit must be whole"
                            : "this is not a whole number of " + (unit.endsWith("B") ? "bytes" : "nanoseconds"));
        }
        return number(value.toBigIntegerExact());
    }

    private Token.Numeral number(BigInteger value) {
        if (value.compareTo(MAX_U64) > 0) {
            throw error("this number has more than 64 bits");
        }
        return new Token.Numeral(
                start, value.longValue(), value.compareTo(MAX_S64) > 0 ? ValueType.Int.U64 : ValueType.Int.S64);
    }

    private String digits() {
        int from = at;
        while (at < text.length() && Lexer.isDigit(text.charAt(at))) {
            at++;
        }
        return text.substring(from, at);
    }

    private String word() {
        int from = at;
        while (at < text.length() && (Lexer.isWordStart(text.charAt(at)) || Lexer.isDigit(text.charAt(at)))) {
            at++;
        }
        return text.substring(from, at);
    }

    private ExpressionException error(String reason) {
        return new ExpressionException(text, start, reason);
    }
}
