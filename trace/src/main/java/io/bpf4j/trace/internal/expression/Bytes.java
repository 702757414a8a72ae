package io.bpf4j.trace.internal.expression;

import io.bpf4j.elf.internal.text.CString;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Bytes of a literal or a name, with equality. <i>Immutable.</i>
 *
 * <p>Tested by {@code ExpressionTest}.
 */
final class Bytes {
    private final byte[] bytes;

    private Bytes(byte[] bytes) {
        this.bytes = bytes;
    }

    static Bytes of(byte[] bytes) {
        return new Bytes(bytes.clone());
    }

    /** The bytes of a name, in which a lone surrogate stands for a byte that is not UTF-8. */
    static Bytes of(String text) {
        return new Bytes(CString.encode(text));
    }

    int length() {
        return bytes.length;
    }

    /** The byte at an index, 0..255. */
    int at(int index) {
        return bytes[index] & 0xff;
    }

    /** A copy with this size, padded with zeros or truncated. */
    byte[] padded(int size) {
        return Arrays.copyOf(bytes, size);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bytes that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** A character for each byte. */
    String characters() {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    /** The bytes as text, of which different bytes make different texts. */
    @Override
    public String toString() {
        return CString.exact(bytes);
    }
}
