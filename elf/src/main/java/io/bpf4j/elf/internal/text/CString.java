package io.bpf4j.elf.internal.text;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * Text as C has it: UTF-8 that ends before the first NUL. Text without a NUL ends where its bytes end: an array of
 * characters may be full. A reader of a format in which the NUL must be there compares with that end.
 *
 * <p>Tested by {@code CStringTest}.
 */
public final class CString {
    private CString() {}

    /**
     * The index of the first NUL from an index on. If there is none before the limit, the limit; or the index, if it is
     * beyond.
     */
    public static int end(byte[] bytes, int from, int limit) {
        int at = from;
        while (at < limit && bytes[at] != 0) {
            at++;
        }
        return at;
    }

    public static String of(byte[] bytes) {
        return new String(bytes, 0, end(bytes, 0, bytes.length), StandardCharsets.UTF_8);
    }

    public static String of(MemorySegment memory) {
        return new String(bytes(memory), StandardCharsets.UTF_8);
    }

    /** The bytes of a text, without its NUL. */
    public static byte[] bytes(MemorySegment memory) {
        long end = 0;
        while (end < memory.byteSize() && memory.get(ValueLayout.JAVA_BYTE, end) != 0) {
            end++;
        }
        return memory.asSlice(0, end).toArray(ValueLayout.JAVA_BYTE);
    }
}
