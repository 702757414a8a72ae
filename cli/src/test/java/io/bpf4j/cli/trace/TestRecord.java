package io.bpf4j.cli.trace;

import io.bpf4j.trace.event.ProbeEvent;
import io.bpf4j.trace.event.TextArgument;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A record as bpf-objects/src/main/bpf/trace.h describes it, argument by argument. */
final class TestRecord {
    static final int STRING_MAX = 16;

    private static final int ROOM_FOR_ALL = 12;
    private static final int SLOT = 24;

    private final ByteBuffer fixed = ByteBuffer.allocate(48 + 8 * ROOM_FOR_ALL).order(ByteOrder.nativeOrder());
    private final List<TextArgument> strings = new ArrayList<>();
    private final List<byte[]> slots = new ArrayList<>();
    private int count;

    TestRecord(long timeNs, int pid, int tid, String comm) {
        fixed.putLong(0, timeNs).putLong(8, 1).putInt(16, pid).putInt(20, tid);
        fixed.put(24, comm.getBytes(StandardCharsets.UTF_8));
    }

    TestRecord number(long bits) {
        fixed.putLong(48 + 8 * count++, bits);
        return this;
    }

    TestRecord unreadable() {
        set(42);
        return number(0);
    }

    TestRecord text(byte[] text, boolean truncated) {
        set(44);
        if (truncated) {
            set(46);
        }
        return slot(text).number(0x7f00);
    }

    TestRecord text(String text, boolean truncated) {
        return text(text.getBytes(StandardCharsets.UTF_8), truncated);
    }

    /** An address that points to no text. */
    TestRecord noText(long address) {
        return slot(new byte[0]).number(address);
    }

    private TestRecord slot(byte[] text) {
        strings.add(new TextArgument(count, TextArgument.ZERO_TERMINATED));
        slots.add(text);
        return this;
    }

    private void set(int field) {
        fixed.putShort(field, (short) (fixed.getShort(field) | 1 << count));
    }

    /** A view of the record, which has something before it. */
    ProbeEvent event() {
        fixed.putShort(40, (short) count);
        int slotsAt = 48 + 8 * (count <= 4 ? 4 : ROOM_FOR_ALL);
        ByteBuffer all = ByteBuffer.allocate(8 + slotsAt + slots.size() * SLOT).order(ByteOrder.nativeOrder());
        all.put(8, fixed.array(), 0, slotsAt);
        for (int slot = 0; slot < slots.size(); slot++) {
            int at = 8 + slotsAt + slot * SLOT;
            all.putShort(at, (short) slots.get(slot).length).put(at + 2, slots.get(slot));
        }
        ProbeEvent event = new ProbeEvent(strings, STRING_MAX);
        event.moveTo(MemorySegment.ofBuffer(all), 8, all.capacity() - 8);
        return event;
    }
}
