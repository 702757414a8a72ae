package io.bpf4j.trace.event;

import io.bpf4j.elf.internal.text.CString;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * An event of a probe with all its arguments: a view of a {@code struct trace_record}, which {@code trace.bpf.o} writes for
 * each event. One object is moved from record to record, so an event costs no allocation; copy what you keep.
 *
 * <p>Mirrors {@code bpf-objects/src/main/bpf/trace.h}, which documents each field. The arguments are followed by a slot
 * of {@code stringMax} bytes for each argument that is read as text, in ascending order of the arguments, so the layout
 * depends on the options of the load. Numbers have the machine's byte order. <i>Confined.</i>
 */
public final class ProbeEvent {
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final boolean BIG_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

    // Indexes of words of 8 bytes.
    private static final int TIME_NS = 0;
    private static final int COOKIE = 1;
    private static final int IDS = 2;
    private static final int COMM = 3;
    private static final int ARGS = 6;

    /**
     * The number of arguments that a record has room for, if its site has no more than these; else {@link #ALL_ARGS}.
     */
    private static final int FEW_ARGS = 4;

    private static final int ALL_ARGS = TextArgument.MAX_ARGS;

    // Indexes of fields of 2 bytes.
    private static final int ARG_COUNT = 20;
    private static final int ERROR_BITS = 21;
    private static final int STRING_BITS = 22;
    private static final int TRUNCATED_BITS = 23;

    private static final int COMM_SIZE = 16;
    private static final int NO_SPEC = 0x8000;
    private static final int PAUSED = 0x4000;

    /** The length in bytes before each text. */
    private static final ValueLayout.OfShort LENGTH = ValueLayout.JAVA_SHORT_UNALIGNED;

    private final int stringMax;

    /** For each argument the index of its slot, or -1. */
    private final int[] slots = new int[TextArgument.MAX_ARGS];

    /** Bit n: argument n has a slot. */
    private final int slotBits;

    private final int slotSize;
    private final int fewSize;
    private final int allSize;

    /**
     * The fixed part of the record. It is copied by one call, because each access to memory outside of the heap has
     * checks of its own, not all of which the JIT compilers remove.
     */
    private final long[] words = new long[ARGS + ALL_ARGS];

    private MemorySegment data = MemorySegment.NULL;
    private long start;
    private int room;
    private int argCount;
    private int errors;
    private int texts;

    /** The form of an argument's value. */
    public enum Form {
        /** A number, in {@link #bits}. */
        NUMBER,
        /** The text that the argument points to. */
        TEXT,
        /** The argument is an address without text: the memory is not mapped, or the length is invalid. */
        NO_TEXT,
        /** The argument could not be read: its memory was not mapped, or its form is not supported. */
        UNREADABLE
    }

    /**
     * A view without a record yet.
     *
     * @param strings the arguments that are read as strings
     * @param stringMax the most bytes that are kept of a string
     */
    public ProbeEvent(List<TextArgument> strings, int stringMax) {
        this.stringMax = stringMax;
        Arrays.fill(slots, -1);
        int[] pointers = strings.stream()
                .mapToInt(TextArgument::pointer)
                .sorted()
                .distinct()
                .toArray();
        int bits = 0;
        for (int slot = 0; slot < pointers.length; slot++) {
            slots[pointers[slot]] = slot;
            bits |= 1 << pointers[slot];
        }
        this.slotBits = bits;
        this.slotSize = Short.BYTES + stringMax + Long.BYTES - 1 & -Long.BYTES;
        this.fewSize = size(FEW_ARGS);
        this.allSize = size(ALL_ARGS);
    }

    /** The size in bytes of a record with room for that many arguments. */
    private int size(int args) {
        return (ARGS + args) * Long.BYTES + Integer.bitCount(slotBits & (1 << args) - 1) * slotSize;
    }

    /** Moves to a record. The results of the accessors are valid as long as the record is. */
    public void moveTo(MemorySegment records, long offset, int size) {
        if (size != fewSize && size != allSize) {
            throw new IllegalStateException("the tracer's record has " + size + " bytes, not " + fewSize + " or "
                    + allSize + ": trace.bpf.o and this library are of different versions");
        }
        room = size == fewSize ? FEW_ARGS : ALL_ARGS;
        data = records;
        start = offset;
        MemorySegment.copy(records, U64, offset, words, 0, ARGS + room);
        errors = u16(ERROR_BITS);
        argCount = (errors & NO_SPEC) == 0 ? Math.min(u16(ARG_COUNT), room) : 0;
        texts = u16(STRING_BITS) & slotBits & ~errors & (1 << argCount) - 1;
    }

    private int u16(int field) {
        int shift = (BIG_ENDIAN ? 3 - field % 4 : field % 4) * Short.SIZE;
        return (int) (words[field / 4] >>> shift) & 0xffff;
    }

    /** Nanoseconds of CLOCK_MONOTONIC. */
    public long timeNs() {
        return words[TIME_NS];
    }

    /** The cookie with which the probe was attached; 0 if no attachment is known for the address. */
    public long cookie() {
        return words[COOKIE];
    }

    /** {@link #pid} and {@link #tid} in one number, in the machine's byte order. */
    public long ids() {
        return words[IDS];
    }

    /** The process, as this process's pid namespace numbers it. */
    public int pid() {
        return (int) (BIG_ENDIAN ? ids() >>> Integer.SIZE : ids());
    }

    /** The thread, as this process's pid namespace numbers it. */
    public int tid() {
        return (int) (BIG_ENDIAN ? ids() : ids() >>> Integer.SIZE);
    }

    /** The first or second eight bytes of the thread's name, which has 16 bytes with the NUL and the bytes after it. */
    public long comm(int half) {
        return words[COMM + half];
    }

    /** The thread's name: its bytes up to the NUL. */
    public byte[] comm() {
        return CString.bytes(data.asSlice(start + COMM * Long.BYTES, COMM_SIZE));
    }

    /** Whether the tracer has stopped the process, because the ring buffer is half full. */
    public boolean isPaused() {
        return (errors & PAUSED) != 0;
    }

    /** The number of arguments, up to 12. */
    public int argCount() {
        return argCount;
    }

    /** The form of argument {@code n}. */
    public Form form(int n) {
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
    public int texts() {
        return texts;
    }

    /** Bit n: argument n is a text that was cut. */
    public int truncated() {
        return u16(TRUNCATED_BITS) & texts;
    }

    /**
     * Argument {@code n}, sign- or zero-extended to 64 bits as the probe declares; for a floating-point argument its
     * raw bits, for a text its address.
     */
    public long bits(int n) {
        return words[ARGS + n];
    }

    /** The segment that contains the texts. */
    public MemorySegment data() {
        return data;
    }

    /** The offset in bytes of the text of argument {@code n} in {@link #data}. */
    public long textStart(int n) {
        return slot(n) + Short.BYTES;
    }

    /** The length of the text of argument {@code n}, in bytes. */
    public int textLength(int n) {
        return Math.min(Short.toUnsignedInt(data.get(LENGTH, slot(n))), stringMax);
    }

    private long slot(int n) {
        return start + (long) (ARGS + room) * Long.BYTES + (long) slots[n] * slotSize;
    }

    /** The bytes of the text of argument {@code n}. */
    public byte[] text(int n) {
        return data.asSlice(textStart(n), textLength(n)).toArray(ValueLayout.JAVA_BYTE);
    }
}
