package io.bpf4j.btf;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.internal.text.CString;
import java.nio.ByteOrder;

/**
 * The bytes of one BTF blob on the heap, with checked bounds of its sections.
 *
 * <p>The bytes are a copy for two reasons: BTF outlives the file mapping that it came from, and the first pass over the
 * 5 MB of a kernel runs in the interpreter, where four loads from an array are several times faster than one load
 * through a {@code ByteBuffer} or a memory segment.
 *
 * <pre>
 *   9f eb 01 00  18 00 00 00  00 00 00 00  10 00 00 00  10 00 00 00  05 00 00 00
 *   magic v  fl  hdr_len=24   type_off=0   type_len=16  str_off=16   str_len=5
 * </pre>
 *
 * Section offsets count from the end of the header; {@code hdr_len} may grow in newer kernels.
 *
 * <p>Tested by {@code BtfTest}.
 */
final class BtfBytes {
    static final int MAGIC = 0xeb9f;
    static final int HEADER_BYTES = 24;
    /** The kernel rejects more than 16 MiB (BTF_MAX_SIZE); a file for user space may be larger, up to this limit. */
    private static final long MAX_BYTES = 1L << 29;

    /**
     * Maximum bytes of a name. The kernel accepts 512 (KSYM_NAME_LEN); names of C++ and Rust may be longer. Names may
     * share bytes, so one long string could hold as many long names as it has bytes.
     */
    static final int MAX_NAME = 4096;

    private final String source;
    private final long base;
    private final byte[] bytes;
    private final boolean little;
    final ByteOrder order;
    /** Start and end of the type section, counted from the start of the blob; likewise strings. */
    final int typesStart;

    final int typesEnd;
    final int stringsStart;
    final int stringsEnd;

    BtfBytes(ByteView view, boolean split) {
        this.source = view.source();
        this.base = view.base();
        if (view.size() < HEADER_BYTES) {
            throw view.malformed(0, "BTF of " + view.size() + " bytes, less than its header of 24");
        }
        if (view.size() > MAX_BYTES) {
            throw view.malformed(0, "BTF of " + view.size() + " bytes, more than the " + MAX_BYTES + " accepted");
        }
        this.order = orderByMagic(view);
        this.little = order == ByteOrder.LITTLE_ENDIAN;
        this.bytes = view.toByteArray();
        if (u8(2) != 1) {
            throw malformed(2, "BTF version " + u8(2) + ", not 1");
        }
        long header = u32(4);
        if (header < HEADER_BYTES || header > view.size()) {
            throw malformed(4, "BTF header of " + header + " bytes in BTF of " + view.size() + " bytes");
        }
        this.typesStart = sectionStart(8, header, "type");
        this.typesEnd = typesStart + (int) u32(12);
        this.stringsStart = sectionStart(16, header, "string");
        this.stringsEnd = stringsStart + (int) u32(20);
        if (u32(8) % 4 != 0) {
            throw malformed(8, "the type section starts at " + u32(8) + ", which is not a multiple of 4");
        }
        checkStrings(split);
    }

    /** The magic number gives the byte order; the order of the view is ignored. */
    static ByteOrder orderByMagic(ByteView view) {
        int first = view.u8(0);
        int second = view.u8(1);
        if (first == 0x9f && second == 0xeb) {
            return ByteOrder.LITTLE_ENDIAN;
        }
        if (first == 0xeb && second == 0x9f) {
            return ByteOrder.BIG_ENDIAN;
        }
        throw view.malformed(0, "BTF starts with %02x %02x, not with its magic number 0xeb9f".formatted(first, second));
    }

    /** Checks that the section described by the two words at {@code at} lies inside the blob. */
    private int sectionStart(int at, long header, String sectionName) {
        long start = header + u32(at);
        long size = u32(at + 4);
        if (start > bytes.length || size > bytes.length - start) {
            throw malformed(
                    at,
                    "the " + sectionName + " section, " + size + " bytes at " + start + ", is outside the "
                            + bytes.length + " bytes of BTF");
        }
        return (int) start;
    }

    private void checkStrings(boolean split) {
        if (stringsStart == stringsEnd) {
            if (split) {
                return;
            }
            throw malformed(20, "the string section is empty; it must hold at least one zero byte");
        }
        if (u8(stringsEnd - 1) != 0) {
            throw malformed(stringsEnd - 1, "the last string has no terminating zero byte");
        }
        if (!split && u8(stringsStart) != 0) {
            throw malformed(stringsStart, "the string section doesn't start with the empty string");
        }
    }

    int size() {
        return bytes.length;
    }

    int u8(int at) {
        return bytes[at] & 0xff;
    }

    int s32(int at) {
        int b0 = bytes[at] & 0xff;
        int b1 = bytes[at + 1] & 0xff;
        int b2 = bytes[at + 2] & 0xff;
        int b3 = bytes[at + 3] & 0xff;
        return little ? b0 | b1 << 8 | b2 << 16 | b3 << 24 : b3 | b2 << 8 | b1 << 16 | b0 << 24;
    }

    long u32(int at) {
        return s32(at) & 0xffff_ffffL;
    }

    byte[] array() {
        return bytes;
    }

    int stringsSize() {
        return stringsEnd - stringsStart;
    }

    /** The end of the string that starts at {@code at}; it exists because the section ends with a zero. */
    int stringEnd(int at) {
        return CString.end(bytes, at, stringsEnd);
    }

    /** Like {@link #stringEnd}, for a name, whose length is limited. */
    int nameEnd(int at) {
        int limit = (int) Math.min(stringsEnd, (long) at + MAX_NAME + 1);
        int end = CString.end(bytes, at, limit);
        if (end >= limit) {
            throw malformed(at, "a name of more than " + MAX_NAME + " bytes");
        }
        return end;
    }

    /** The name at an absolute place inside the string section. */
    String name(int at) {
        return CString.exact(bytes, at, nameEnd(at));
    }

    /** The string at an absolute place inside the string section. */
    String string(int at) {
        return CString.exact(bytes, at, stringEnd(at));
    }

    /** @param at offset from the start of the blob; the exception has the offset in the file */
    MalformedDataException malformed(long at, String problem) {
        return new MalformedDataException(source, base + at, problem);
    }

    String source() {
        return source;
    }
}
