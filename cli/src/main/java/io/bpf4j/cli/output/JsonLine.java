package io.bpf4j.cli.output;

import org.jspecify.annotations.Nullable;

/**
 * Writes one JSON value on one line, in the order of the calls.
 *
 * <p>Keys keep the order of the calls, so output can be compared byte by byte. Integers of any size are written
 * exactly: RFC 8259 sets no limit, and an address above 2^53 must not be rounded. Infinities and NaN have no JSON form
 * and become the strings {@code "Infinity"}, {@code "-Infinity"}, {@code "NaN"}.
 *
 * <p><i>Confined.</i>
 */
public final class JsonLine {
    private final LineBuffer text;

    /** Whether the next key or element needs a comma before it. */
    private boolean comma;

    /** A writer with a buffer of its own. */
    public JsonLine() {
        this(new LineBuffer());
    }

    /** A writer that appends to a buffer. */
    public JsonLine(LineBuffer text) {
        this.text = text;
    }

    public JsonLine beginObject() {
        separate();
        text.append('{');
        comma = false;
        return this;
    }

    public JsonLine endObject() {
        text.append('}');
        comma = true;
        return this;
    }

    public JsonLine beginArray() {
        separate();
        text.append('[');
        comma = false;
        return this;
    }

    public JsonLine endArray() {
        text.append(']');
        comma = true;
        return this;
    }

    public JsonLine key(String name) {
        separate();
        quote(name);
        text.append(':');
        comma = false;
        return this;
    }

    public JsonLine value(long value) {
        separate();
        text.decimal(value);
        return this;
    }

    /** A 64-bit number read as unsigned: {@code -1} is 18446744073709551615. */
    public JsonLine unsigned(long value) {
        separate();
        text.unsigned(value);
        return this;
    }

    public JsonLine value(double value) {
        if (!Double.isFinite(value)) {
            return value(Double.toString(value));
        }
        separate();
        text.append(Double.toString(value));
        return this;
    }

    public JsonLine value(boolean value) {
        separate();
        text.append(Boolean.toString(value));
        return this;
    }

    /** A string, or {@code null}. */
    public JsonLine value(@Nullable String value) {
        separate();
        if (value == null) {
            text.append("null");
        } else {
            quote(value);
        }
        return this;
    }

    public JsonLine field(String name, long value) {
        return key(name).value(value);
    }

    public JsonLine field(String name, boolean value) {
        return key(name).value(value);
    }

    public JsonLine field(String name, @Nullable String value) {
        return key(name).value(value);
    }

    public JsonLine unsignedField(String name, long value) {
        return key(name).unsigned(value);
    }

    /** The line in the buffer, without its line feed. */
    @Override
    public String toString() {
        return text.toString();
    }

    private void separate() {
        if (comma) {
            text.append(',');
        }
        comma = true;
    }

    private void quote(String value) {
        text.append('"').append(Text.jsonEscape(value)).append('"');
    }
}
