package io.bpf4j.elf;

import io.bpf4j.elf.internal.text.CString;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A bounds-checked, read-only window over bytes: parsers read untrusted input only through this class.
 *
 * <p>Offsets and sizes are in bytes, 64 bits wide and signed; a 64-bit field of a file that is read as a negative
 * number is thereby out of bounds. The check {@code offset > size - length} can't overflow, which
 * {@code offset + length > size} would. A read outside the window throws a {@link MalformedDataException} with the
 * source and the place in it, never an {@code IndexOutOfBoundsException}.
 *
 * <p>The bytes are in an array, or in the file of an open {@link ElfFile}, which is read on demand. A view of a file is
 * valid until the file is closed, and then throws {@link IllegalStateException}. If the file was shortened, reading the
 * removed bytes throws a {@link MalformedDataException}.
 *
 * <p><i>Immutable</i> if its bytes are: the caller must not change an array after passing it.
 */
public final class ByteView {
    private static final VarHandle S16 = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle S32 = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle S64 = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** The largest array that every JVM can allocate. */
    private static final long MAX_ARRAY = Integer.MAX_VALUE - 8L;

    private final String source;
    private final long base;
    /** The array with the bytes; null if they are in a file. */
    private final byte @Nullable [] array;

    private final @Nullable FileBlocks file;
    /** The start of the window in the array or file. */
    private final long start;

    private final long size;
    private final boolean little;

    private ByteView(
            String source,
            long base,
            byte @Nullable [] array,
            @Nullable FileBlocks file,
            long start,
            long size,
            boolean little) {
        this.source = source;
        this.base = base;
        this.array = array;
        this.file = file;
        this.start = start;
        this.size = size;
        this.little = little;
    }

    /** A view of a whole array, which is not copied. */
    public static ByteView of(String source, byte[] bytes, ByteOrder order) {
        return new ByteView(source, 0, bytes, null, 0, bytes.length, order == ByteOrder.LITTLE_ENDIAN);
    }

    /** A view of a whole file; the caller closes the file. */
    static ByteView of(String source, FileBlocks file, ByteOrder order) {
        return new ByteView(source, 0, null, file, 0, file.size(), order == ByteOrder.LITTLE_ENDIAN);
    }

    /** The readable name of the source: the first word of every error message. */
    public String source() {
        return source;
    }

    /** The start of this window in its source, in bytes. */
    public long base() {
        return base;
    }

    /** The size of the window in bytes. */
    public long size() {
        return size;
    }

    public boolean isEmpty() {
        return size == 0;
    }

    /** The byte order of the numbers read through this view. */
    public ByteOrder order() {
        return little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
    }

    public int u8(long offset) {
        return s8(offset) & 0xff;
    }

    public int s8(long offset) {
        check(offset, 1);
        return bytes(offset)[index(offset)];
    }

    public int u16(long offset) {
        return s16(offset) & 0xffff;
    }

    public int s16(long offset) {
        check(offset, 2);
        short value = (short) S16.get(bytes(offset), index(offset));
        return little ? value : Short.reverseBytes(value);
    }

    public long u32(long offset) {
        return s32(offset) & 0xffff_ffffL;
    }

    public int s32(long offset) {
        check(offset, 4);
        int value = (int) S32.get(bytes(offset), index(offset));
        return little ? value : Integer.reverseBytes(value);
    }

    /** The raw 64 bits at an offset; an unsigned value of 2^63 or more is negative. */
    public long s64(long offset) {
        check(offset, 8);
        long value = (long) S64.get(bytes(offset), index(offset));
        return little ? value : Long.reverseBytes(value);
    }

    /** The array with the number at a checked offset; the number is at {@link #index}. */
    private byte[] bytes(long offset) {
        return array != null ? array : fileBlocks().block(start + offset);
    }

    private int index(long offset) {
        return array != null ? (int) (start + offset) : FileBlocks.indexInBlock(start + offset);
    }

    private FileBlocks fileBlocks() {
        return Objects.requireNonNull(file);
    }

    /** A part of this window, over the same bytes; its {@link #base()} is its start in the source. */
    public ByteView slice(long offset, long length) {
        check(offset, length);
        return new ByteView(source, base + offset, array, file, start + offset, length, little);
    }

    /** The rest of this window from an offset, which may be its end. */
    public ByteView slice(long offset) {
        check(offset, 0);
        return slice(offset, size - offset);
    }

    /** The same bytes with numbers read in another byte order. */
    public ByteView withOrder(ByteOrder order) {
        boolean wanted = order == ByteOrder.LITTLE_ENDIAN;
        return wanted == little ? this : new ByteView(source, base, array, file, start, size, wanted);
    }

    /** A copy of all bytes, owned by the caller. */
    public byte[] toByteArray() {
        if (size > MAX_ARRAY) {
            throw malformed(0, size + " bytes, too many to hold in memory at once");
        }
        byte[] copy = new byte[(int) size];
        copy(0, copy, 0, copy.length);
        return copy;
    }

    /**
     * The same window over a copy of its bytes: many small reads are faster than from a file, and don't see it change.
     *
     * @param copy from {@link #toByteArray}; it must not be modified any more
     */
    public ByteView over(byte[] copy) {
        if (copy.length != size) {
            throw new IllegalArgumentException(copy.length + " bytes for a window of " + size);
        }
        return new ByteView(source, base, copy, null, 0, size, little);
    }

    /**
     * The NUL-terminated UTF-8 string at an offset, its terminator left out. A byte that is not UTF-8 becomes a lone
     * surrogate, U+DC00 plus the byte.
     */
    public String cString(long offset) {
        return cString(offset, MAX_ARRAY);
    }

    /** Like {@link #cString(long)}, but a string of more than {@code maxBytes} bytes is malformed. */
    public String cString(long offset, long maxBytes) {
        return CString.exact(cStringBytes(offset, maxBytes));
    }

    /** The bytes of {@link #cString(long, long)}, for a string that may not be text, such as the name of a file. */
    public byte[] cStringBytes(long offset, long maxBytes) {
        byte[] bytes = new byte[cStringLength(offset, maxBytes)];
        copy(offset, bytes, 0, bytes.length);
        return bytes;
    }

    /** The length in bytes of the NUL-terminated string at an offset, its terminator left out. */
    int cStringLength(long offset, long maxBytes) {
        check(offset, 1);
        long limit = Math.min(size - offset, Math.min(maxBytes, MAX_ARRAY - 1) + 1);
        // By chunks: a copy into an array and a loop over it are faster than single reads, before and after JIT
        // compilation.
        byte[] chunk = new byte[(int) Math.min(limit, 64)];
        for (long at = 0; at < limit; at += chunk.length) {
            int length = (int) Math.min(chunk.length, limit - at);
            copy(offset + at, chunk, 0, length);
            int end = CString.end(chunk, 0, length);
            if (end < length) {
                return (int) (at + end);
            }
        }
        throw malformed(
                offset,
                limit == size - offset
                        ? "string without a terminating NUL"
                        : "string of more than " + maxBytes + " bytes");
    }

    /** Copies bytes of this window into an array, whose bounds the caller checks. */
    void copy(long offset, byte[] target, int at, int length) {
        check(offset, length);
        if (array != null) {
            System.arraycopy(array, (int) (start + offset), target, at, length);
        } else if (length != 0) {
            fileBlocks().copy(start + offset, target, at, length);
        }
    }

    /** Whether the bytes at an offset equal the given bytes; false if the window ends before them. */
    boolean matches(long offset, byte[] expected) {
        if (offset < 0 || offset > size - expected.length) {
            return false;
        }
        byte[] actual = new byte[expected.length];
        copy(offset, actual, 0, actual.length);
        return Arrays.equals(actual, expected);
    }

    /** The exception for malformed data at an offset of this window; it names the source and the place in it. */
    public MalformedDataException malformed(long offset, String problem) {
        return new MalformedDataException(source, base + offset, problem);
    }

    private void check(long offset, long length) {
        if (offset < 0 || length < 0 || offset > size - length) {
            throw malformed(
                    offset,
                    "needs " + Long.toUnsignedString(length) + " bytes here, but the " + size
                            + " bytes that start at 0x" + Long.toHexString(base) + " end before that");
        }
    }

    @Override
    public String toString() {
        return source + " at 0x" + Long.toHexString(base) + ", " + size + " bytes";
    }
}
