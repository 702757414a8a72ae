package io.bpf4j.sys.internal.call;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;

/** Copies the data that fields of C structs refer to, to and from native memory. */
public final class Struct {
    static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT;
    static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG;

    private Struct() {}

    /** A copy in native memory; NULL if the input is empty. */
    public static MemorySegment bytes(SegmentAllocator memory, byte[] bytes) {
        if (bytes.length == 0) {
            return MemorySegment.NULL;
        }
        return memory.allocate(bytes.length, 8).copyFrom(MemorySegment.ofArray(bytes));
    }

    /** Numbers of 4 bytes, in the machine's byte order. */
    public static byte[] ints(int... values) {
        return MemorySegment.ofArray(values).toArray(JAVA_BYTE);
    }

    /** The integer at an offset of a key or a value. */
    public static int intAt(byte[] bytes, long offset) {
        return MemorySegment.ofArray(bytes).get(ValueLayout.JAVA_INT_UNALIGNED, offset);
    }

    /** An id or a pid for which the kernel reports 0 if there is none. */
    public static OptionalInt unlessZero(int value) {
        return value == 0 ? OptionalInt.empty() : OptionalInt.of(value);
    }

    /** Whether integers of this size exist. */
    public static boolean isInteger(int size) {
        return size == 1 || size == 2 || size == 4 || size == 8;
    }

    /** Whether a number fits in this many bytes, as a signed or an unsigned integer. */
    public static boolean fits(long value, int size) {
        int bits = size * 8;
        return bits == 64 || (value >= -(1L << (bits - 1)) && value < 1L << bits);
    }

    /** An integer in the buffer's byte order. */
    public static void put(ByteBuffer bytes, int at, int size, long value) {
        switch (size) {
            case 1 -> bytes.put(at, (byte) value);
            case 2 -> bytes.putShort(at, (short) value);
            case 4 -> bytes.putInt(at, (int) value);
            default -> bytes.putLong(at, value);
        }
    }

    static MemorySegment longs(SegmentAllocator memory, long[] values) {
        return values.length == 0 ? MemorySegment.NULL : memory.allocateFrom(U64, values);
    }

    static MemorySegment ints(SegmentAllocator memory, int[] values) {
        return values.length == 0 ? MemorySegment.NULL : memory.allocateFrom(U32, values);
    }

    /** Memory for a result; NULL for none. */
    static MemorySegment buffer(SegmentAllocator memory, int size) {
        return size == 0 ? MemorySegment.NULL : memory.allocate(size, 8);
    }

    /**
     * The bytes that a call wrote to a buffer; the returned size may be larger than the buffer, if the data was
     * truncated.
     */
    static byte[] filled(MemorySegment buffer, int size) {
        return buffer.asSlice(0, Math.min(buffer.byteSize(), Integer.toUnsignedLong(size)))
                .toArray(JAVA_BYTE);
    }

    /** A name in the form that the kernel accepts: an invalid one should not make the call fail. */
    static void name(MemorySegment struct, long offset, String name) {
        byte[] ascii = KernelNames.of(name).getBytes(StandardCharsets.US_ASCII);
        MemorySegment.copy(ascii, 0, struct, JAVA_BYTE, offset, ascii.length);
    }
}
