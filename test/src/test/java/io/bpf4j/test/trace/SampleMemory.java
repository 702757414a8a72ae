package io.bpf4j.test.trace;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Native memory of this process, full of texts that each end with NUL. Expressions read it in the kernel, and the
 * test reads it in Java. The test takes the memory before and after it for unreadable.
 */
final class SampleMemory {
    private static final List<String> TEXTS = List.of(
            "",
            "a",
            "SELECT",
            "SELECT 1",
            "SELECT * FROM t WHERE x = 'y'",
            "select",
            "SELECTED",
            "INSERT INTO t",
            "abababababab",
            "aab",
            "java/lang/String",
            "java/lang/Object",
            "x".repeat(63),
            "x".repeat(64),
            "x".repeat(65),
            "x".repeat(200) + "y",
            "ä",
            "12345678",
            "1234567");

    private final MemorySegment segment;
    private final long[] starts = new long[TEXTS.size()];

    SampleMemory(Arena arena) {
        segment = arena.allocate(4096, 8);
        long at = 0;
        for (int i = 0; i < starts.length; i++) {
            starts[i] = at;
            byte[] bytes = TEXTS.get(i).getBytes(StandardCharsets.UTF_8);
            MemorySegment.copy(bytes, 0, segment, ValueLayout.JAVA_BYTE, at, bytes.length);
            at += bytes.length + 1;
        }
    }

    static List<String> texts() {
        return TEXTS;
    }

    long address(String text) {
        return segment.address() + starts[TEXTS.indexOf(text)];
    }

    long textAddress(Random random) {
        return segment.address() + starts[random.nextInt(starts.length)];
    }

    long number(long address, int size, boolean signed) {
        long at = offset(address, size);
        long value = switch (size) {
            case 1 -> segment.get(ValueLayout.JAVA_BYTE, at);
            case 2 -> segment.get(ValueLayout.JAVA_SHORT_UNALIGNED, at);
            case 4 -> segment.get(ValueLayout.JAVA_INT_UNALIGNED, at);
            default -> segment.get(ValueLayout.JAVA_LONG_UNALIGNED, at);
        };
        return SampleEvent.narrow(value, size, signed);
    }

    /** No bytes can be read anywhere. */
    byte[] bytes(long address, int size) {
        return size == 0
                ? new byte[0]
                : segment.asSlice(offset(address, size), size).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Up to NUL, but at most so many bytes. */
    byte[] text(long address, int bound) {
        byte[] bytes = bytes(address, bound);
        int length = 0;
        while (length < bound && bytes[length] != 0) {
            length++;
        }
        return Arrays.copyOf(bytes, length);
    }

    private long offset(long address, int size) {
        long offset = address - segment.address();
        if (offset < 0 || offset > segment.byteSize() - size) {
            throw new SampleEvent.Unreadable();
        }
        return offset;
    }
}
