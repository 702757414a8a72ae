package io.bpf4j.trace.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.trace.event.ProbeEvent.Form;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The bytes follow bpf-objects/src/main/bpf/trace.h. */
class ProbeEventTest {
    private static final int STRING_MAX = 8;
    private static final int SLOT = 16;

    @Test
    void readsEveryField() {
        ProbeEvent event = new ProbeEvent(
                List.of(new TextArgument(3, 4), new TextArgument(0, TextArgument.ZERO_TERMINATED)), STRING_MAX);
        ByteBuffer record = record(12, 2);
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
        record.putShort(144, (short) 5).put(146, "hello!!!".getBytes(StandardCharsets.US_ASCII));
        record.putShort(160, (short) 8).put(162, "truncate".getBytes(StandardCharsets.US_ASCII));

        move(event, record);
        assertThat(event.timeNs()).isEqualTo(123_456_789L);
        assertThat(event.cookie()).isEqualTo(42);
        assertThat(event.pid()).isEqualTo(100);
        assertThat(event.tid()).isEqualTo(101);
        assertThat(event.comm()).asString().isEqualTo("java");
        assertThat(event.argCount()).isEqualTo(5);
        assertThat(IntStream.range(0, 5).mapToObj(event::form))
                .containsExactly(Form.TEXT, Form.NUMBER, Form.UNREADABLE, Form.TEXT, Form.NUMBER);
        assertThat(event.text(0)).asString().isEqualTo("hello");
        assertThat(event.bits(1)).isEqualTo(-7);
        assertThat(event.text(3)).asString().isEqualTo("truncate");
        assertThat(event.truncated()).isEqualTo(0b01000);
        assertThat(event.bits(4)).isEqualTo(20);
    }

    @Test
    void anArgumentWhoseTextCouldNotBeReadIsItsAddress() {
        ProbeEvent event = new ProbeEvent(List.of(new TextArgument(0, 1)), STRING_MAX);
        ByteBuffer record = record(4, 1).putShort(40, (short) 1).putLong(48, 1);
        move(event, record);
        assertThat(event.form(0)).isEqualTo(Form.NO_TEXT);
        assertThat(event.bits(0)).isEqualTo(1);
    }

    @Test
    void aSiteWithoutSpecHasNoArguments() {
        ProbeEvent event = new ProbeEvent(List.of(), STRING_MAX);
        ByteBuffer record = record(4, 0).putShort(42, (short) 0x8000);
        move(event, record);
        assertThat(event.argCount()).isZero();
    }

    @Test
    void countsAndLengthsOutOfBoundsAreCut() {
        ProbeEvent event = new ProbeEvent(List.of(new TextArgument(0, 1), new TextArgument(7, 1)), STRING_MAX);
        for (int room : new int[] {4, 12}) {
            int slots = room == 4 ? 1 : 2;
            ByteBuffer record = record(room, slots);
            record.putShort(40, (short) -1).putShort(44, (short) -1).putShort(48 + 8 * room, (short) -1);
            move(event, record);
            assertThat(event.argCount()).isEqualTo(room);
            assertThat(event.form(0)).isEqualTo(Form.TEXT);
            assertThat(event.textLength(0)).isEqualTo(STRING_MAX);
            assertThat(event.textStart(0)).isEqualTo(48 + 8 * room + 2);
        }
    }

    @Test
    void aProcessThatWasPausedIsMarked() {
        ProbeEvent event = new ProbeEvent(List.of(), STRING_MAX);
        move(event, record(4, 0));
        assertThat(event.isPaused()).isFalse();
        move(event, record(4, 0).putShort(42, (short) 0x4000).putShort(40, (short) 4));
        assertThat(event.isPaused()).isTrue();
        assertThat(event.argCount()).isEqualTo(4);
    }

    @Test
    void aRecordOfAnotherVersionIsNotRead() {
        ProbeEvent event = new ProbeEvent(List.of(), STRING_MAX);
        assertThatThrownBy(() -> event.moveTo(MemorySegment.ofArray(new byte[100]), 0, 100))
                .hasMessageContaining("100 bytes, not 80 or 144");
    }

    private static void move(ProbeEvent event, ByteBuffer record) {
        event.moveTo(MemorySegment.ofBuffer(record), 0, record.capacity());
    }

    private static ByteBuffer record(int room, int slots) {
        return ByteBuffer.allocate(48 + 8 * room + slots * SLOT).order(ByteOrder.nativeOrder());
    }
}
