package io.bpf4j.metrics.internal;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Optional;

/**
 * The unit of a metric, and the power of ten by which it is larger than the unit of the answer. Both Prometheus and
 * OpenTelemetry require seconds and bytes. <i>Immutable.</i>
 *
 * @param kind what is measured
 * @param digits digits of the answer's values after the decimal point of the base unit: 9 for nanoseconds
 */
public record BaseUnit(Kind kind, int digits) {
    public enum Kind {
        SECONDS,
        BYTES,
        /** The unit is unknown. */
        NONE
    }

    /** The base unit for a unit of the catalog, such as {@code ns}. */
    public static BaseUnit of(Optional<String> unit) {
        return switch (unit.orElse("")) {
            case "ns" -> new BaseUnit(Kind.SECONDS, 9);
            case "us" -> new BaseUnit(Kind.SECONDS, 6);
            case "ms" -> new BaseUnit(Kind.SECONDS, 3);
            case "s" -> new BaseUnit(Kind.SECONDS, 0);
            case "bytes" -> new BaseUnit(Kind.BYTES, 0);
            default -> new BaseUnit(Kind.NONE, 0);
        };
    }

    /** The nearest double of a value of the answer, in this unit. */
    public double of(BigInteger value) {
        return new BigDecimal(value, digits).doubleValue();
    }

    /** The largest value of the answer that is not above a number in this unit, as the number is written in decimals. */
    BigInteger floor(double number) {
        return BigDecimal.valueOf(number)
                .scaleByPowerOfTen(digits)
                .setScale(0, RoundingMode.FLOOR)
                .toBigIntegerExact();
    }
}
