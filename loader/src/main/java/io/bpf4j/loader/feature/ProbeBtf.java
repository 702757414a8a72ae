package io.bpf4j.loader.feature;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The smallest BTF that has a given kind, for this machine. Type 1 is always {@code int}.
 *
 * <p>BTF is a header of 24 bytes, the types as u32 words, and strings; see Documentation/bpf/btf.rst. A type starts with
 * name offset, info ({@code kind << 24 | vlen}), and size or type.
 */
final class ProbeBtf {
    private static final byte[] STRINGS = "\0int\0x\0.bss\0".getBytes(StandardCharsets.US_ASCII);
    private static final int INT_NAME = 1;
    private static final int X = 5;
    private static final int BSS = 7;

    private static final int HEADER_SIZE = 24;

    private static final int KIND_INT = 1 << 24;
    private static final int KIND_PTR = 2 << 24;
    private static final int KIND_FUNC = 12 << 24;
    private static final int KIND_FUNC_PROTO = 13 << 24;
    private static final int KIND_VAR = 14 << 24;
    private static final int KIND_DATASEC = 15 << 24;
    private static final int KIND_FLOAT = 16 << 24;
    private static final int KIND_DECL_TAG = 17 << 24;
    private static final int KIND_TYPE_TAG = 18 << 24;
    private static final int KIND_ENUM64 = 19 << 24;

    private static final int SIGNED_32_BITS = 1 << 24 | 32;
    private static final int GLOBAL = 1;

    private ProbeBtf() {}

    static byte[] integer() {
        return encode();
    }

    static byte[] function() {
        return encode(0, KIND_FUNC_PROTO, 0, X, KIND_FUNC, 2);
    }

    /** The linkage of a function is where other kinds count their members. */
    static byte[] globalFunction() {
        return encode(0, KIND_FUNC_PROTO, 0, X, KIND_FUNC | GLOBAL, 2);
    }

    static byte[] dataSection() {
        return encode(X, KIND_VAR, 1, 0, BSS, KIND_DATASEC | 1, 4, 2, 0, 4);
    }

    static byte[] floatingPoint() {
        return encode(X, KIND_FLOAT, 4);
    }

    /** A tag on a variable as a whole, which is component -1. */
    static byte[] declarationTag() {
        return encode(X, KIND_VAR, 1, GLOBAL, X, KIND_DECL_TAG, 2, -1);
    }

    static byte[] typeTag() {
        return encode(X, KIND_TYPE_TAG, 1, 0, KIND_PTR, 2);
    }

    static byte[] enum64() {
        return encode(0, KIND_ENUM64 | 1, 8, X, 0, 0);
    }

    private static byte[] encode(int... typesAfterInt) {
        int[] integer = {INT_NAME, KIND_INT, 4, SIGNED_32_BITS};
        int typesSize = (integer.length + typesAfterInt.length) * Integer.BYTES;
        ByteBuffer btf =
                ByteBuffer.allocate(HEADER_SIZE + typesSize + STRINGS.length).order(ByteOrder.nativeOrder());
        btf.putShort((short) 0xeb9f).put((byte) 1).put((byte) 0).putInt(HEADER_SIZE);
        btf.putInt(0).putInt(typesSize).putInt(typesSize).putInt(STRINGS.length);
        for (int word : integer) {
            btf.putInt(word);
        }
        for (int word : typesAfterInt) {
            btf.putInt(word);
        }
        return btf.put(STRINGS).array();
    }
}
