package io.bpf4j.cli.command;

import io.bpf4j.btf.TypedValue;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Text;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;

/**
 * A value of a C type as JSON: structs are objects, constants of enumerations strings, pointers and numbers of 128 bits
 * strings, too.
 */
final class ValueJson implements TypedValue.Visitor {
    private final JsonLine line;

    /** For each open struct, whether its members count as those of the one around it. */
    private final Deque<Boolean> merged = new ArrayDeque<>();

    private boolean unnamed;

    ValueJson(JsonLine line) {
        this.line = line;
    }

    /** A part without a name that is no struct still needs a key. */
    private JsonLine part() {
        if (unnamed) {
            unnamed = false;
            line.key("");
        }
        return line;
    }

    @Override
    public void beginStruct() {
        merged.push(unnamed);
        if (!unnamed) {
            line.beginObject();
        }
        unnamed = false;
    }

    @Override
    public void member(String name) {
        unnamed = name.isEmpty();
        if (!unnamed) {
            line.key(name);
        }
    }

    @Override
    public void endStruct() {
        if (!merged.pop()) {
            line.endObject();
        }
    }

    @Override
    public void beginArray() {
        part().beginArray();
    }

    @Override
    public void endArray() {
        line.endArray();
    }

    @Override
    public void integer(long number, boolean signed) {
        if (signed) {
            part().value(number);
        } else {
            part().unsigned(number);
        }
    }

    @Override
    public void integer(BigInteger number) {
        part().value(number.toString());
    }

    @Override
    public void floatingPoint(double number) {
        part().value(number);
    }

    @Override
    public void bool(boolean is) {
        part().value(is);
    }

    @Override
    public void constant(String name, long number, boolean signed) {
        part().value(name);
    }

    @Override
    public void pointer(long address) {
        part().value("0x" + Long.toHexString(address));
    }

    @Override
    public void text(byte[] bytes) {
        part().value(Text.decode(bytes));
    }

    @Override
    public void bytes(byte[] bytes) {
        part().value(HexFormat.of().formatHex(bytes));
    }
}
