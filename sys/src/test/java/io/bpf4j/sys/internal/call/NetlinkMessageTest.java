package io.bpf4j.sys.internal.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.sys.BpfException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Requests byte by byte, and answers whose lengths lie. */
class NetlinkMessageTest {
    private static final StructLayout STRUCT = StructLayout.of("none", "u8 family; u32 index");

    private static byte[] answer(int type, int flags, byte[] body) {
        return ByteBuffer.allocate(16 + body.length)
                .order(ByteOrder.nativeOrder())
                .putInt(16 + body.length)
                .putShort((short) type)
                .putShort((short) flags)
                .putInt(7)
                .putInt(0)
                .put(body)
                .array();
    }

    private static List<NetlinkMessage> read(byte[] datagram) {
        return NetlinkMessage.in(MemorySegment.ofArray(datagram));
    }

    @Test
    void aRequestHasAHeaderAStructAndAttributes() {
        NetlinkMessage request = NetlinkMessage.request(19, 0, STRUCT, new long[] {1, 5}, all -> {
            all.text(3, "lo");
            all.nested(43, inner -> inner.u32(1, 9));
        });
        assertThat(HexFormat.of().formatHex(request.datagram(0x0102)))
                .isEqualTo(u32(0x2c) + u16(19) + u16(5) + u32(0x0102) + u32(0) // header
                        + u32(1) + u32(5) // struct
                        + u16(7) + u16(3) + "6c6f0000" // lo with its NUL, and padding
                        + u16(12) + u16(0x8000 | 43) + u16(8) + u16(1) + u32(9));
    }

    /** The bytes of a number in the order of this machine, in hexadecimal. */
    private static String u16(int value) {
        return HexFormat.of()
                .formatHex(ByteBuffer.allocate(2)
                        .order(ByteOrder.nativeOrder())
                        .putShort((short) value)
                        .array());
    }

    private static String u32(int value) {
        return HexFormat.of()
                .formatHex(ByteBuffer.allocate(4)
                        .order(ByteOrder.nativeOrder())
                        .putInt(value)
                        .array());
    }

    @Test
    void whatIsWrittenIsRead() {
        NetlinkMessage request = NetlinkMessage.request(19, 0, STRUCT, new long[] {1, 5}, all -> {
            all.text(3, "lo");
            all.nested(43, inner -> inner.u32(1, 9));
        });
        List<NetlinkMessage> messages = read(request.datagram(77));
        assertThat(messages).hasSize(1);
        NetlinkMessage read = messages.getFirst();
        assertThat(read.sequence()).isEqualTo(77);
        Map<Integer, MemorySegment> attributes = read.attributes(STRUCT);
        assertThat(NetlinkMessage.text(attributes, 3)).isEqualTo("lo");
        MemorySegment nest = attributes.get(43);
        assertThat(nest).isNotNull();
        assertThat(NetlinkMessage.number(NetlinkMessage.attributes(nest), 1)).isEqualTo(9);
        assertThat(NetlinkMessage.number(attributes, 99)).isZero();
        assertThat(NetlinkMessage.text(attributes, 99)).isEmpty();
    }

    @Test
    void anErrorHasItsNumberAndTheReasonOfTheKernel() {
        byte[] reason = "MTU too large\0\0\0".getBytes(StandardCharsets.US_ASCII);
        byte[] body = ByteBuffer.allocate(20 + 4 + reason.length)
                .order(ByteOrder.nativeOrder())
                .putInt(-22)
                .position(20)
                .putShort((short) (4 + reason.length))
                .putShort((short) 1)
                .put(reason)
                .array();
        NetlinkMessage error = read(answer(NetlinkMessage.ERROR, 0x300, body)).getFirst();
        assertThat(error.errno()).isEqualTo(22);
        assertThat(error.reason()).isEqualTo("MTU too large");
        assertThat(read(answer(NetlinkMessage.ERROR, 0x100, body)).getFirst().reason())
                .as("without the flag there are no attributes")
                .isEmpty();
        assertThat(read(answer(NetlinkMessage.ERROR, 0x300, new byte[4]))
                        .getFirst()
                        .reason())
                .isEmpty();
    }

    @Test
    void lengthsThatDoNotFitAreRefused() {
        byte[] message = answer(16, 0, new byte[8]);
        ByteBuffer.wrap(message).order(ByteOrder.nativeOrder()).putInt(0, 100);
        assertThatThrownBy(() -> read(message)).isInstanceOf(BpfException.class).hasMessageContaining("100 bytes");
        ByteBuffer.wrap(message).order(ByteOrder.nativeOrder()).putInt(0, 15);
        assertThatThrownBy(() -> read(message)).isInstanceOf(BpfException.class).hasMessageContaining("15 bytes");
        assertThatThrownBy(() -> read(new byte[7]))
                .isInstanceOf(BpfException.class)
                .hasMessageContaining("header");
        byte[] attribute = {3, 0, 1, 0};
        assertThatThrownBy(() -> NetlinkMessage.attributes(MemorySegment.ofArray(attribute)))
                .isInstanceOf(BpfException.class);
    }

    /** Every truncation and every changed bit: a message, or the error that names a length, and never another failure. */
    @Test
    void damageNeverFailsInAnotherWay() {
        byte[] whole = NetlinkMessage.request(19, 0, STRUCT, new long[] {1, 5}, all -> {
                    all.text(3, "lo");
                    all.nested(43, inner -> inner.u32(1, 9));
                })
                .datagram(1);
        for (int length = 0; length < whole.length; length++) {
            readAll(Arrays.copyOf(whole, length));
        }
        for (int bit = 0; bit < whole.length * 8; bit++) {
            byte[] changed = whole.clone();
            changed[bit / 8] ^= (byte) (1 << bit % 8);
            readAll(changed);
        }
    }

    private static void readAll(byte[] datagram) {
        try {
            for (NetlinkMessage message : read(datagram)) {
                message.errno();
                message.reason();
                Map<Integer, MemorySegment> attributes = message.attributes(STRUCT);
                NetlinkMessage.text(attributes, 3);
                MemorySegment nest = attributes.get(43);
                if (nest != null) {
                    NetlinkMessage.number(NetlinkMessage.attributes(nest), 1);
                }
            }
        } catch (BpfException e) {
            assertThat(e).hasMessageContaining("can't be read");
        }
    }
}
