package io.bpf4j.loader.binding;

import io.bpf4j.loader.map.Codec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * A C struct or union in memory, whose members a generated subclass reads and writes in place. A view can be moved from
 * one struct to the next, so that reading many structs allocates nothing. <i>Confined.</i>
 *
 * <p>Numbers are in the machine's byte order, as BPF programs write them, and need not be aligned. Offsets are in bytes
 * from the start of the struct; those of bit-fields are in bits.
 *
 * <p>A view of memory that others change, such as a global variable, sees their changes; an aligned number of up to 8
 * bytes is read and written in one access. A view of a ring buffer's record is read-only and must not be used after its
 * handler has returned.
 *
 * <p>The methods for subclasses are for generated code. Setters throw IllegalArgumentException if the value does not
 * fit the member. Tested by {@code StructViewTest} and {@code BindingsOnKernelTest}.
 */
public abstract class StructView {
    private final long size;
    private MemorySegment memory;
    private long start;
    private long length;

    /** Creates a view of this type over a segment, at an offset. */
    @FunctionalInterface
    public interface Factory<V extends StructView> {
        /**
         * A view of a struct.
         *
         * @param offset of the struct in the segment, in bytes
         * @throws IllegalArgumentException if the segment ends before the struct does
         */
        V at(MemorySegment segment, long offset);
    }

    /**
     * A view of a struct at an offset of the segment.
     *
     * @param size of the struct in bytes
     */
    protected StructView(MemorySegment segment, long offset, long size) {
        this.size = size;
        this.length = checkLength(segment.byteSize() - offset, offset, size);
        this.memory = segment;
        this.start = offset;
    }

    private static long checkLength(long length, long offset, long size) {
        if (offset < 0 || length < size) {
            throw new IllegalArgumentException(
                    "a struct of " + size + " bytes does not fit in " + Math.max(length, 0) + " bytes");
        }
        return length;
    }

    /** The memory of the struct, up to the end of the segment or record that it is in. */
    public final MemorySegment segment() {
        return memory.asSlice(start, length);
    }

    /**
     * Moves this view to another struct.
     *
     * @param offset of the struct in the segment, in bytes
     * @throws IllegalArgumentException if the segment ends before the struct does; the view is then where it was
     */
    public final void moveTo(MemorySegment segment, long offset) {
        moveTo(segment, offset, segment.byteSize() - offset);
    }

    final void moveTo(MemorySegment segment, long offset, long available) {
        length = checkLength(available, offset, size);
        memory = segment;
        start = offset;
    }

    protected final byte getByte(long at) {
        return memory.get(ValueLayout.JAVA_BYTE, start + at);
    }

    protected final void setByte(long at, byte value) {
        memory.set(ValueLayout.JAVA_BYTE, start + at, value);
    }

    protected final int getU8(long at) {
        return getByte(at) & 0xff;
    }

    protected final void setU8(long at, int value) {
        setByte(at, (byte) checked(value, 0xff));
    }

    protected final boolean getBoolean(long at) {
        return getByte(at) != 0;
    }

    protected final void setBoolean(long at, boolean value) {
        setByte(at, (byte) (value ? 1 : 0));
    }

    protected final short getShort(long at) {
        return memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, start + at);
    }

    protected final void setShort(long at, short value) {
        memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, start + at, value);
    }

    protected final int getU16(long at) {
        return getShort(at) & 0xffff;
    }

    protected final void setU16(long at, int value) {
        setShort(at, (short) checked(value, 0xffff));
    }

    protected final int getInt(long at) {
        return memory.get(ValueLayout.JAVA_INT_UNALIGNED, start + at);
    }

    protected final void setInt(long at, int value) {
        memory.set(ValueLayout.JAVA_INT_UNALIGNED, start + at, value);
    }

    protected final long getU32(long at) {
        return Integer.toUnsignedLong(getInt(at));
    }

    protected final void setU32(long at, long value) {
        setInt(at, (int) checked(value, 0xffff_ffffL));
    }

    protected final long getLong(long at) {
        return memory.get(ValueLayout.JAVA_LONG_UNALIGNED, start + at);
    }

    protected final void setLong(long at, long value) {
        memory.set(ValueLayout.JAVA_LONG_UNALIGNED, start + at, value);
    }

    protected final float getFloat(long at) {
        return memory.get(ValueLayout.JAVA_FLOAT_UNALIGNED, start + at);
    }

    protected final void setFloat(long at, float value) {
        memory.set(ValueLayout.JAVA_FLOAT_UNALIGNED, start + at, value);
    }

    protected final double getDouble(long at) {
        return memory.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, start + at);
    }

    protected final void setDouble(long at, double value) {
        memory.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, start + at, value);
    }

    /** An unsigned bit-field. */
    protected final long getBits(long bit, int bits) {
        return BitField.get(memory, start * 8 + bit, bits, ByteOrder.nativeOrder());
    }

    protected final void setBits(long bit, int bits, long value) {
        if (bits < Long.SIZE) {
            checked(value, (1L << bits) - 1);
        }
        BitField.set(memory, start * 8 + bit, bits, value, ByteOrder.nativeOrder());
    }

    /** A signed bit-field. */
    protected final long getSignedBits(long bit, int bits) {
        int unused = Long.SIZE - bits;
        return getBits(bit, bits) << unused >> unused;
    }

    protected final void setSignedBits(long bit, int bits, long value) {
        int unused = Long.SIZE - bits;
        if (value << unused >> unused != value) {
            throw new IllegalArgumentException(value + " does not fit in a signed bit-field of " + bits + " bits");
        }
        BitField.set(memory, start * 8 + bit, bits, value, ByteOrder.nativeOrder());
    }

    /** A value of any type: text, bytes, an array. */
    protected final <T> T get(Codec<T> codec, long at) {
        return codec.decode(memory, start + at);
    }

    protected final <T> void set(Codec<T> codec, long at, T value) {
        codec.encode(value, memory, start + at);
    }

    /** A view of a struct in this struct. */
    protected final <V extends StructView> V nested(Factory<V> factory, long at) {
        V view = factory.at(memory, start + at);
        view.moveTo(memory, start + at, length - at);
        return view;
    }

    /**
     * The offset of an element of an array.
     *
     * @param first offset of the first element
     * @param stride bytes from one element to the next
     * @throws IndexOutOfBoundsException if the array has no such element
     */
    protected final long element(long first, long stride, int count, int index) {
        return first + Objects.checkIndex(index, count) * stride;
    }

    /** The number of whole elements of a flexible array: from its offset to the end of the segment or record. */
    protected final int elementsFrom(long first, long stride) {
        return (int) Math.min(Integer.MAX_VALUE, Math.max(0, length - first) / stride);
    }

    /** Sets bytes to 0: padding, and the bytes of bit-fields. */
    protected final void clear(long at, long bytes) {
        memory.asSlice(start + at, bytes).fill((byte) 0);
    }

    private static long checked(long value, long max) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(value + " does not fit: the range is 0 to " + max);
        }
        return value;
    }
}
