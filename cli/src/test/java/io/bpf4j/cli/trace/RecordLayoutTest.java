package io.bpf4j.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.cli.trace.TraceEvent.Num;
import io.bpf4j.cli.trace.TraceEvent.Str;
import io.bpf4j.cli.trace.TraceEvent.Unreadable;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The bytes follow bpf-objects/src/main/bpf/trace.h. */
class RecordLayoutTest {
    private static final int STRING_MAX = 8;

    @Test
    void readsEveryField() {
        RecordLayout layout =
                new RecordLayout(List.of(new StringArg(3, 4), new StringArg(0, StringArg.ZERO_TERMINATED)), STRING_MAX);
        assertThat(layout.size()).isEqualTo(168 + 2 * STRING_MAX);

        ByteBuffer record = record(layout);
        record.putLong(0, 123_456_789L).putLong(8, 42).putInt(16, 100).putInt(20, 101);
        record.put(24, "java\0\377rest".getBytes(StandardCharsets.ISO_8859_1));
        record.putShort(40, (short) 5)
                .putShort(42, (short) 0b00100)
                .putShort(44, (short) 0b01001)
                .putShort(46, (short) 0b01000);
        record.putLong(48, 0x7f00L)
                .putLong(56, -7)
                .putLong(64, 0)
                .putLong(72, 0x7f10L)
                .putLong(80, 20);
        record.putShort(144, (short) 5).putShort(150, (short) 8);
        record.put(168, "hello!!!".getBytes(StandardCharsets.US_ASCII));
        record.put(176, "truncate".getBytes(StandardCharsets.US_ASCII));

        assertThat(layout.read(MemorySegment.ofBuffer(record)))
                .isEqualTo(new TraceEvent(
                        123_456_789L,
                        42,
                        100,
                        101,
                        "java",
                        List.of(
                                new Str("hello", false),
                                new Num(-7),
                                new Unreadable(),
                                new Str("truncate", true),
                                new Num(20))));
    }

    @Test
    void anArgumentWhoseTextCouldNotBeReadIsItsAddress() {
        RecordLayout layout = new RecordLayout(List.of(new StringArg(0, 1)), STRING_MAX);
        ByteBuffer record = record(layout).putShort(40, (short) 1).putLong(48, 1);
        assertThat(layout.read(MemorySegment.ofBuffer(record)).args()).containsExactly(new TraceEvent.NoText(1));
    }

    @Test
    void aSiteWithoutSpecHasNoArguments() {
        RecordLayout layout = new RecordLayout(List.of(), STRING_MAX);
        ByteBuffer record = record(layout).putShort(42, (short) 0x8000);
        assertThat(layout.read(MemorySegment.ofBuffer(record)).args()).isEmpty();
    }

    @Test
    void countsAndLengthsOutOfBoundsAreCut() {
        RecordLayout layout = new RecordLayout(List.of(new StringArg(0, 1)), STRING_MAX);
        ByteBuffer record = record(layout);
        record.putShort(40, (short) -1).putShort(44, (short) -1).putShort(144, (short) -1);
        assertThat(layout.read(MemorySegment.ofBuffer(record)).args())
                .hasSize(12)
                .first()
                .isInstanceOf(Str.class);
    }

    @Test
    void aRecordOfAnotherVersionIsNotRead() {
        RecordLayout layout = new RecordLayout(List.of(), STRING_MAX);
        assertThatThrownBy(() -> layout.read(MemorySegment.ofArray(new byte[100])))
                .hasMessageContaining("100 bytes, not 168");
    }

    private static ByteBuffer record(RecordLayout layout) {
        return ByteBuffer.allocate((int) layout.size()).order(ByteOrder.nativeOrder());
    }
}
