package io.bpf4j.trace.catalog;

import io.bpf4j.trace.expression.ValueType;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The type of a probe's argument: its meaning, and how its value is found. Numbers have a {@link ValueType} as well,
 * with their size and sign. <i>Immutable.</i>
 *
 * <p>A site has its own description of the argument's size and sign, by which the value is read. It may differ from the
 * type here: a constant becomes an {@code int}, and a compiler passes a {@code short} in four bytes.
 *
 * <p>Tested by {@code CatalogParserTest}.
 */
public sealed interface ArgumentType {

    /**
     * An integer.
     *
     * @param number its size and sign
     * @param unit the unit of the value; empty if unknown
     * @param names the names of some values, in the order of the file; values are extended to 64 bits
     */
    record Int(ValueType.Int number, Optional<Unit> unit, Map<Long, String> names) implements ArgumentType {
        /** An integer without a known unit and without names. */
        public Int(ValueType.Int number) {
            this(number, Optional.empty(), Map.of());
        }
    }

    /** A floating-point number. Catalogs can't declare one: the sites of a probe do. */
    record FloatingPoint(ValueType.FloatingPoint number) implements ArgumentType {}

    /** A truth value: 0 is false. */
    record Bool() implements ArgumentType {}

    /** An address, or a handle that stands for an object and has no meaning by itself. */
    record Pointer() implements ArgumentType {}

    /**
     * Text in the memory of the traced process.
     *
     * @param length the index of the probe's argument that has the text's length in bytes; empty if a NUL ends the text
     * @param pointerAt empty if the argument points to the text; otherwise the argument points to an object, which has
     *     a pointer to the text at this offset, in bytes
     * @param mangled whether it is the name of a C++ type as the compiler encodes it: {@code St13runtime_error}
     */
    record Text(OptionalInt length, OptionalInt pointerAt, boolean mangled) implements ArgumentType {}

    /** The unit of an integer. */
    enum Unit {
        NANOSECONDS("ns"),
        MICROSECONDS("us"),
        MILLISECONDS("ms"),
        SECONDS("s"),
        BYTES("bytes");

        private final String symbol;

        Unit(String symbol) {
            this.symbol = symbol;
        }

        /** The unit as it is written in a catalog: {@code ns}. */
        public String symbol() {
            return symbol;
        }

        static Optional<Unit> of(String symbol) {
            for (Unit unit : values()) {
                if (unit.symbol.equals(symbol)) {
                    return Optional.of(unit);
                }
            }
            return Optional.empty();
        }
    }
}
