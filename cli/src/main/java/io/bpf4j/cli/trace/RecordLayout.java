package io.bpf4j.cli.trace;

import io.bpf4j.cli.output.Text;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads a {@code struct trace_record}, the record that {@code trace.bpf.o} writes for each event.
 *
 * <p>Mirrors {@code bpf-objects/src/main/bpf/trace.h}, which documents each field. After the fixed part follows a slot
 * of {@code stringMax} bytes for every string argument, in ascending order of the argument, so the layout depends on
 * the options of the load. Little- or big-endian, like the machine. <i>Immutable.</i>
 */
final class RecordLayout {
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfShort U16 = ValueLayout.JAVA_SHORT_UNALIGNED;

    private static final long TIME_NS = 0;
    private static final long COOKIE = 8;
    private static final long PID = 16;
    private static final long TID = 20;
    private static final long COMM = 24;
    private static final int COMM_SIZE = 16;
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

    private final long size;

    /**
     * @param strings the arguments that are read as strings
     * @param stringMax maximum bytes kept of each string
     */
    RecordLayout(List<StringArg> strings, int stringMax) {
        this.stringMax = stringMax;
        Arrays.fill(slots, -1);
        int[] pointers = strings.stream()
                .mapToInt(StringArg::pointer)
                .sorted()
                .distinct()
                .toArray();
        for (int slot = 0; slot < pointers.length; slot++) {
            slots[pointers[slot]] = slot;
        }
        this.size = STRINGS + (long) pointers.length * stringMax;
    }

    /** The size of each record in bytes. */
    long size() {
        return size;
    }

    /** Copies the content of a record; the event doesn't refer to the segment. */
    TraceEvent read(MemorySegment record) {
        if (record.byteSize() < size) {
            throw new IllegalStateException("the tracer's record has " + record.byteSize() + " bytes, not " + size
                    + ": trace.bpf.o and this command are of different versions");
        }
        int errors = Short.toUnsignedInt(record.get(U16, ERROR_BITS));
        return new TraceEvent(
                record.get(U64, TIME_NS),
                record.get(U64, COOKIE),
                record.get(U32, PID),
                record.get(U32, TID),
                comm(record),
                (errors & NO_SPEC) == 0 ? values(record, errors) : List.of());
    }

    private List<TraceEvent.Value> values(MemorySegment record, int errors) {
        int count = Math.min(Short.toUnsignedInt(record.get(U16, ARG_COUNT)), StringArg.MAX_ARGS);
        int strings = record.get(U16, STRING_BITS);
        int truncated = record.get(U16, TRUNCATED_BITS);
        List<TraceEvent.Value> values = new ArrayList<>(count);
        for (int n = 0; n < count; n++) {
            if ((errors >>> n & 1) != 0) {
                values.add(new TraceEvent.Unreadable());
            } else if (slots[n] < 0) {
                values.add(new TraceEvent.Num(record.get(U64, ARGS + 8L * n)));
            } else if ((strings >>> n & 1) != 0) {
                values.add(new TraceEvent.Str(string(record, n), (truncated >>> n & 1) != 0));
            } else {
                values.add(new TraceEvent.NoText(record.get(U64, ARGS + 8L * n)));
            }
        }
        return values;
    }

    private String string(MemorySegment record, int n) {
        int length = Math.min(Short.toUnsignedInt(record.get(U16, STRING_LENGTH + 2L * n)), stringMax);
        long start = STRINGS + (long) slots[n] * stringMax;
        return Text.decode(record.asSlice(start, length).toArray(ValueLayout.JAVA_BYTE));
    }

    private static String comm(MemorySegment record) {
        byte[] bytes = record.asSlice(COMM, COMM_SIZE).toArray(ValueLayout.JAVA_BYTE);
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return Text.decode(Arrays.copyOf(bytes, end));
    }
}
