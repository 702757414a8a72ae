package io.bpf4j.cli.trace;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;

/**
 * One firing of a probe: a view of a {@code struct trace_record}, which {@code trace.bpf.o} writes for each event, in the
 * memory where it is. One object is moved from record to record, so an event costs no allocation.
 *
 * <p>Mirrors {@code bpf-objects/src/main/bpf/trace.h}, which documents each field. After the fixed part follows a slot
 * of {@code stringMax} bytes for every string argument, in ascending order of the argument, so the layout depends on
 * the options of the load. Little- or big-endian, like the machine. <i>Confined.</i>
 */
public final class TraceEvent {
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED;

    private static final long TIME_NS = 0;
    private static final long COOKIE = 8;
    private static final long PID = 16;
    private static final long TID = 20;
    private static final long COMM = 24;
    static final int COMM_SIZE = 16;
    private static final long ARG_COUNT = 40;
    private static final long ERROR_BITS = 42;
    private static final long STRING_BITS = 44;
    private static final long TRUNCATED_BITS = 46;
    private static final long ARGS = 48;
    private static final long STRING_LENGTH = 144;
    private static final long STRINGS = 168;

    private static final int NO_SPEC = 0x8000;

    private final int stringMax;

    /** For each argument the number of its slot, or -1. */
    private final int[] slots = new int[StringArg.MAX_ARGS];

    /** Bit n: argument n has a slot. */
    private final int slotBits;

    private final long size;

    private MemorySegment data = MemorySegment.NULL;
    private long start;
    private int argCount;
    private int errors;
    private int texts;

    /** What the value of an argument is. */
    public enum Form {
        /** A number, in {@link #bits}. */
        NUMBER,
        /** The text that the argument points to. */
        TEXT,
        /** The argument, an address, points to no text: memory that is not mapped, or the length is invalid. */
        NO_TEXT,
        /** The argument could not be read: its memory was not mapped, or its form is not supported. */
        UNREADABLE
    }

    /**
     * A view that is nowhere yet.
     *
     * @param strings the arguments that are read as strings
     * @param stringMax maximum bytes kept of each string
     */
    TraceEvent(List<StringArg> strings, int stringMax) {
        this.stringMax = stringMax;
        Arrays.fill(slots, -1);
        int[] pointers = strings.stream()
                .mapToInt(StringArg::pointer)
                .sorted()
                .distinct()
                .toArray();
        int bits = 0;
        for (int slot = 0; slot < pointers.length; slot++) {
            slots[pointers[slot]] = slot;
            bits |= 1 << pointers[slot];
        }
        this.slotBits = bits;
        this.size = STRINGS + (long) pointers.length * stringMax;
    }

    /** The size of each record in bytes. */
    long size() {
        return size;
    }

    /** Moves to a record. What the accessors return is valid as long as the record is. */
    void moveTo(MemorySegment records, long offset, long recordSize) {
        if (recordSize < size) {
            throw new IllegalStateException("the tracer's record has " + recordSize + " bytes, not " + size
                    + ": trace.bpf.o and this command are of different versions");
        }
        data = records;
        start = offset;
        errors = u16(ERROR_BITS);
        argCount = (errors & NO_SPEC) == 0 ? Math.min(u16(ARG_COUNT), StringArg.MAX_ARGS) : 0;
        texts = u16(STRING_BITS) & slotBits & ~errors & (1 << argCount) - 1;
    }

    private int u16(long field) {
        return Short.toUnsignedInt(data.get(U16, start + field));
    }

    /** Nanoseconds of CLOCK_MONOTONIC. */
    public long timeNs() {
        return data.get(U64, start + TIME_NS);
    }

    /** The cookie given when the probe was attached; 0 if no attachment is known for the address. */
    long cookie() {
        return data.get(U64, start + COOKIE);
    }

    /** The process, as this process's pid namespace numbers it. */
    int pid() {
        return data.get(U32, start + PID);
    }

    /** The thread, likewise. */
    int tid() {
        return data.get(U32, start + TID);
    }

    /** The first or second eight bytes of the thread's name, which fills 16 bytes with what follows its NUL. */
    long comm(int half) {
        return data.get(U64, start + COMM + Long.BYTES * half);
    }

    /** The thread's name: its bytes up to the NUL. */
    byte[] comm() {
        byte[] bytes = data.asSlice(start + COMM, COMM_SIZE).toArray(ValueLayout.JAVA_BYTE);
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return Arrays.copyOf(bytes, end);
    }

    /** How many arguments it has, up to 12. */
    int argCount() {
        return argCount;
    }

    /** What the value of argument {@code n} is. */
    Form form(int n) {
        int bit = 1 << n;
        if ((errors & bit) != 0) {
            return Form.UNREADABLE;
        }
        if ((slotBits & bit) == 0) {
            return Form.NUMBER;
        }
        return (texts & bit) != 0 ? Form.TEXT : Form.NO_TEXT;
    }

    /** Bit n: argument n is a text. */
    int texts() {
        return texts;
    }

    /** Bit n: argument n is a text that was longer. */
    int truncated() {
        return u16(TRUNCATED_BITS) & texts;
    }

    /**
     * Argument {@code n}, sign- or zero-extended to 64 bits as the probe declares; the raw bits of a floating-point
     * argument; the address, where a text is meant.
     */
    long bits(int n) {
        return data.get(U64, start + ARGS + (long) Long.BYTES * n);
    }

    /** The segment that has the texts. */
    MemorySegment data() {
        return data;
    }

    /** Where the text of argument {@code n} starts in {@link #data}. */
    long textStart(int n) {
        return start + STRINGS + (long) slots[n] * stringMax;
    }

    /** Bytes of the text of argument {@code n}. */
    int textLength(int n) {
        return Math.min(u16(STRING_LENGTH + 2L * n), stringMax);
    }

    /** The bytes of that text. */
    byte[] text(int n) {
        return data.asSlice(textStart(n), textLength(n)).toArray(ValueLayout.JAVA_BYTE);
    }
}
