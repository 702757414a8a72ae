package io.bpf4j.cli.trace;

import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.LineBuffer;
import io.bpf4j.cli.output.Text;
import io.bpf4j.trace.catalog.ArgumentType;
import io.bpf4j.trace.catalog.ProbeArgument;
import io.bpf4j.trace.event.TextArgument;
import io.bpf4j.trace.event.TracedProbe;
import io.bpf4j.trace.expression.ValueType;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The parts that all lines of a probe's events share, as bytes: names are escaped and encoded once. <i>Immutable.</i>
 *
 * <p>Tested by {@code EventFormatTest}.
 */
final class ProbeFormat {
    private static final int ID_WIDTH = 24;

    final TracedProbe probe;

    /** The last column of a line without arguments, and the column before the arguments. */
    final byte[] idAtEnd;

    final byte[] id;

    /** The JSON between the thread's name and the arguments. */
    final byte[] json;

    private final Argument[] arguments = new Argument[TextArgument.MAX_ARGS];

    /** A name without control characters, with the blanks after it. */
    static String column(String name) {
        return name + " ".repeat(Math.max(0, ID_WIDTH - name.length()) + 2);
    }

    ProbeFormat(TracedProbe probe) {
        this.probe = probe;
        String name = Text.printable(probe.id());
        idAtEnd = encode(name.stripTrailing());
        id = encode(column(name));
        String object = new JsonLine()
                .beginObject()
                .field("probe", probe.id())
                .field("path", probe.path())
                .field("provider", probe.provider())
                .field("name", probe.name())
                .key("args")
                .beginArray()
                .toString();
        json = encode("," + object.substring(1));
        for (int n = 0; n < arguments.length; n++) {
            arguments[n] = new Argument(probe, n);
        }
    }

    private static byte[] encode(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** The format of argument {@code n}, even if the probe doesn't declare it. */
    Argument argument(int n) {
        return arguments[n];
    }

    /** An argument in a line of text. <i>Immutable.</i> */
    static final class Argument {
        /** A larger unsigned number is nearly always an address, and is shown in hexadecimal. */
        private static final long LARGEST_DECIMAL = 0xffff_ffffL;

        private static final byte[] TRUE = encode("true");
        private static final byte[] FALSE = encode("false");

        /** {@code name=}. */
        final byte[] label;

        /** Bit n: this argument is the length of argument n. It is not shown if argument n is shown as text. */
        final int lengthOf;

        /** The type of a floating-point argument; null for a whole number. */
        private final ValueType.@Nullable FloatingPoint floating;

        private final boolean unsigned;
        private final @Nullable ArgumentType type;

        /** The values that have names, in ascending order, and their names. */
        private final long[] values;

        private final byte[][] names;

        private Argument(TracedProbe probe, int n) {
            label = encode(probe.argument(n) + "=");
            floating = probe.type(n) instanceof ValueType.FloatingPoint number ? number : null;
            unsigned = probe.type(n).isU64();
            type = probe.known(n).map(ProbeArgument::type).orElse(null);
            int lengths = 0;
            for (int pointer = 0; pointer < TextArgument.MAX_ARGS; pointer++) {
                lengths |= probe.isLengthOf(n, pointer) ? 1 << pointer : 0;
            }
            lengthOf = lengths;
            Map<Long, String> named =
                    type instanceof ArgumentType.Int number ? new TreeMap<>(number.names()) : Map.of();
            values = named.keySet().stream().mapToLong(Long::longValue).toArray();
            names = named.values().stream().map(ProbeFormat::encode).toArray(byte[][]::new);
        }

        /** Whether it is a number in the catalog, and so is shown as one even if {@code --str} names it. */
        boolean isNumber() {
            return type instanceof ArgumentType.Bool || type instanceof ArgumentType.Int;
        }

        /** Writes a number by its meaning: as an address, a truth value, the name of a value, or a number. */
        void write(LineBuffer line, long bits) {
            if (type instanceof ArgumentType.Bool) {
                line.append(bits != 0 ? TRUE : FALSE);
            } else if (type instanceof ArgumentType.Pointer) {
                line.hex(bits);
            } else {
                int name = values.length == 0 ? -1 : Arrays.binarySearch(values, bits);
                if (name >= 0) {
                    line.append(names[name]);
                } else {
                    writeNumber(line, bits);
                }
            }
        }

        private void writeNumber(LineBuffer line, long bits) {
            if (floating != null) {
                line.append(Double.toString(floating.value(bits)));
            } else if (unsigned && Long.compareUnsigned(bits, LARGEST_DECIMAL) > 0) {
                line.hex(bits);
            } else {
                line.decimal(bits);
            }
        }

        /** Writes a number as JSON. */
        void writeJson(LineBuffer line, long bits) {
            if (floating != null) {
                new JsonLine(line).value(floating.value(bits));
            } else if (unsigned) {
                line.unsigned(bits);
            } else {
                line.decimal(bits);
            }
        }
    }
}
