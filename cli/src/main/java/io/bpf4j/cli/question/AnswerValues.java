package io.bpf4j.cli.question;

import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Text;
import io.bpf4j.trace.Distribution;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Collection;
import java.util.Comparator;
import java.util.Iterator;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Values of expressions as text and as JSON.
 *
 * <p>Tested by {@code AnswerReportTest}.
 */
public final class AnswerValues {
    private static final String[] TIMES = {"ns", "us", "ms", "s"};
    private static final String[] SIZES = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

    private AnswerValues() {}

    /** The order of keys, value by value, for rows that have the same count. */
    public static final Comparator<Map<String, Object>> KEYS =
            (left, right) -> compare(left.values(), right.values(), AnswerValues::compare);

    /** The order of two sequences, element by element; a shorter one is before those that begin with it. */
    public static <T> int compare(Collection<T> left, Collection<T> right, Comparator<? super T> order) {
        Iterator<T> others = right.iterator();
        for (T each : left) {
            int result = others.hasNext() ? order.compare(each, others.next()) : 1;
            if (result != 0) {
                return result;
            }
        }
        return others.hasNext() ? -1 : 0;
    }

    /** The order of two values: numbers by their value, all others as text. */
    static int compare(Object left, Object right) {
        return switch (left) {
            case Double a when right instanceof Double b -> a.compareTo(b);
            case Long a when right instanceof Long b -> a.compareTo(b);
            case Number a
            when right instanceof Number b && isExact(a) && isExact(b) ->
                new BigInteger(a.toString()).compareTo(new BigInteger(b.toString()));
            default -> left.toString().compareTo(right.toString());
        };
    }

    private static boolean isExact(Number number) {
        return number instanceof Long || number instanceof BigInteger;
    }

    /** A value in a table: text without quotes. */
    public static String cell(Object value) {
        return value instanceof String text ? Text.printable(text) : value.toString();
    }

    /** Names and values: {@code pid=4711 comm=java}. */
    public static String text(Map<String, Object> values) {
        return values.entrySet().stream()
                .map(entry -> Text.printable(entry.getKey()) + "=" + cell(entry.getValue()))
                .collect(Collectors.joining(" "));
    }

    /** Writes an object with the values. */
    public static void json(JsonLine line, Map<String, Object> values) {
        line.beginObject();
        values.forEach((name, value) -> {
            line.key(name);
            switch (value) {
                case Long number -> line.value(number);
                case Double number -> line.value(number);
                case Boolean truth -> line.value(truth);
                case BigInteger large -> line.unsigned(large.longValue());
                default -> line.value(value.toString());
            }
        });
        line.endObject();
    }

    /**
     * A number in a unit that keeps it short: {@code 1.5 ms} for 1500000 ns.
     *
     * @param unit {@code ns} or {@code bytes}; another unit is kept
     */
    public static String withUnit(long value, boolean unsigned, String unit) {
        return withUnit(value, unsigned, unit, RoundingMode.HALF_UP);
    }

    private static String withUnit(long value, boolean unsigned, String unit, RoundingMode rounding) {
        double number = unsigned && value < 0 ? 0x1p64 + value : value;
        return switch (unit) {
            case "ns" -> scaled(number, TIMES, 1000, rounding);
            case "bytes" -> scaled(number, SIZES, 1024, rounding);
            case "" -> unsigned ? Long.toUnsignedString(value) : Long.toString(value);
            default -> (unsigned ? Long.toUnsignedString(value) : Long.toString(value)) + " " + unit;
        };
    }

    /** The range of a bucket: {@code 64 us .. 128 us}, where the upper bound is not included. */
    public static String range(Distribution.Bucket bucket, boolean unsigned, String unit) {
        if (!unsigned && bucket.from() == Long.MIN_VALUE) {
            return "< " + withUnit(bucket.to() + 1, false, unit);
        }
        if (bucket.from() == bucket.to()) {
            return withUnit(bucket.from(), unsigned, unit);
        }
        boolean last = bucket.to() == (unsigned ? -1 : Long.MAX_VALUE);
        return last
                ? ">= " + withUnit(bucket.from(), unsigned, unit)
                : withUnit(bucket.from(), unsigned, unit) + " .. " + withUnit(bucket.to() + 1, unsigned, unit);
    }

    /** The lower bound of a bucket. */
    public static String bound(Distribution.Bucket bucket, boolean unsigned, String unit) {
        return !unsigned && bucket.from() == Long.MIN_VALUE ? "<" : withUnit(bucket.from(), unsigned, unit);
    }

    /** The sums of a distribution: number of events, minimum, mean, an upper bound of the 99th percentile, maximum. */
    public static String summary(Distribution distribution, String unit) {
        boolean unsigned = distribution.unsigned();
        double mean = distribution.mean();
        String average = Double.isNaN(mean) ? "" : ", mean " + meanWithUnit(mean, unit);
        return events(distribution.count()) + ", min " + withUnit(distribution.min(), unsigned, unit) + average
                + ", p99 <= " + upperBound(distribution.quantile(0.99), distribution, unit) + ", max "
                + withUnit(distribution.max(), unsigned, unit);
    }

    /** A bound as text: rounded up, so that it stays one; the maximum as the maximum is written. */
    private static String upperBound(long bound, Distribution distribution, String unit) {
        boolean unsigned = distribution.unsigned();
        return bound == distribution.max()
                ? withUnit(bound, unsigned, unit)
                : withUnit(bound, unsigned, unit, RoundingMode.CEILING);
    }

    /** A mean with three digits, because that of 0 and 1 is the share of 1; from 100 on a whole number. */
    private static String meanWithUnit(double mean, String unit) {
        if (unit.equals("ns") || unit.equals("bytes")) {
            return scaled(
                    mean, unit.equals("ns") ? TIMES : SIZES, unit.equals("ns") ? 1000 : 1024, RoundingMode.HALF_UP);
        }
        BigDecimal exact = new BigDecimal(mean);
        BigDecimal shown =
                Math.abs(mean) < 100 ? exact.round(new MathContext(3)) : exact.setScale(0, RoundingMode.HALF_EVEN);
        return shown.stripTrailingZeros().toPlainString() + (unit.isEmpty() ? "" : " " + unit);
    }

    public static String events(long count) {
        return count + (count == 1 ? " event" : " events");
    }

    private static String scaled(double number, String[] units, int step, RoundingMode rounding) {
        int unit = 0;
        double scaled = number;
        while (Math.abs(scaled) >= step && unit < units.length - 1) {
            scaled /= step;
            unit++;
        }
        BigDecimal exact = new BigDecimal(scaled);
        BigDecimal shown =
                Math.abs(scaled) >= 100 ? exact.setScale(0, rounding) : exact.round(new MathContext(3, rounding));
        BigDecimal one = BigDecimal.valueOf(step);
        if (shown.abs().compareTo(one) == 0 && unit < units.length - 1) { // 999.7 us are 1 ms
            shown = shown.divide(one, rounding);
            unit++;
        }
        return shown.stripTrailingZeros().toPlainString() + " " + units[unit];
    }
}
