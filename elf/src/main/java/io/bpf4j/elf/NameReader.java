package io.bpf4j.elf;

import io.bpf4j.elf.internal.text.CString;
import java.nio.ByteOrder;

/**
 * Reads names out of a string table, within a budget. <i>Confined</i>: one reader for one walk over one table.
 *
 * <p>A string table is a sequence of strings, each ended by NUL. A name is an offset into it, and may point into the
 * middle of a string: {@code .rela.text} also contains {@code .text}. A malicious file can exploit this: one string of
 * a megabyte, and a million symbols whose names start at each of its bytes, are half a terabyte of names in a file of
 * 25 MB. So all names of a walk together may have 256 bytes per entry and 64 times the table's size; normal files need
 * far less.
 *
 * <p>Tested by {@code MalformedElfTest}.
 */
final class NameReader {
    private static final int BYTES_PER_ENTRY = 256;
    private static final int BYTES_PER_TABLE_BYTE = 64;

    private final ByteView strings;
    private final int maxNameBytes;
    private final boolean unnamed;
    private long budget;
    private byte[] buffer = new byte[128];

    NameReader(ByteView strings, long entries, ElfLimits limits) {
        this(strings, limits.maxNameBytes(), false, entries * BYTES_PER_ENTRY + strings.size() * BYTES_PER_TABLE_BYTE);
    }

    private NameReader(ByteView strings, int maxNameBytes, boolean unnamed, long budget) {
        this.strings = strings;
        this.maxNameBytes = maxNameBytes;
        this.unnamed = unnamed;
        this.budget = budget;
    }

    /** For a table whose entries have no names: every name is empty. */
    static NameReader unnamed() {
        return new NameReader(ByteView.of("", new byte[0], ByteOrder.LITTLE_ENDIAN), 0, true, 0);
    }

    String name(long offset) {
        if (isEmpty(offset)) {
            return "";
        }
        int length = read(offset);
        return CString.exact(buffer, 0, length);
    }

    /** The {@link #hash(byte[], int)} of a name, without creating a string; 0 for an empty name. */
    int hash(long offset) {
        if (isEmpty(offset)) {
            return 0;
        }
        int length = read(offset); // first, because it may replace the buffer
        return hash(buffer, length);
    }

    static int hash(byte[] name, int length) {
        int hash = length == 0 ? 0 : 1;
        for (int i = 0; i < length; i++) {
            hash = 31 * hash + name[i];
        }
        return hash;
    }

    /** In the gABI offset 0 means "no name", even if the table has no string. */
    private boolean isEmpty(long offset) {
        return unnamed || (offset == 0 && strings.isEmpty());
    }

    private int read(long offset) {
        int length = strings.cStringLength(offset, maxNameBytes);
        budget -= length;
        if (budget < 0) {
            throw strings.malformed(
                    offset, "the names together are a multiple of their string table, because they overlap");
        }
        if (length > buffer.length) {
            buffer = new byte[Math.max(length, 2 * buffer.length)];
        }
        strings.copy(offset, buffer, 0, length);
        return length;
    }
}
