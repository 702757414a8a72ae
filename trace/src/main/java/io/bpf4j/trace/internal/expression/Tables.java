package io.bpf4j.trace.internal.expression;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Collects the tables that the functions of a question read: patterns and literals. A function gets the address of the
 * first byte, which must be a multiple of 8. The program must not be able to change the tables, so they belong in a
 * frozen map, such as {@code .rodata}. <i>Confined.</i>
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
public final class Tables {
    /** The maximum size of all tables in bytes. The offset of a BPF load is at most 32,767. */
    public static final int MAX_BYTES = 32_768;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    public Tables() {}

    /** All tables so far, at most {@link #MAX_BYTES}; numbers have the machine's byte order. */
    public byte[] bytes() {
        return bytes.toByteArray();
    }

    /** Appends bytes, and zeros up to a multiple of 8. Returns the offset of the first byte. */
    int add(byte[] table) {
        int offset = bytes.size();
        if (offset + table.length > MAX_BYTES) {
            throw new IllegalStateException("tables of more than " + MAX_BYTES + " bytes");
        }
        bytes.writeBytes(table);
        bytes.writeBytes(new byte[-table.length & 7]);
        return offset;
    }

    /** Appends numbers. Returns the offset of the first, in bytes. */
    int add(long[] table) {
        ByteBuffer buffer = ByteBuffer.allocate(table.length * Long.BYTES).order(ByteOrder.nativeOrder());
        buffer.asLongBuffer().put(table);
        return add(buffer.array());
    }

    boolean hasRoom(int size) {
        return bytes.size() + size <= MAX_BYTES;
    }
}
