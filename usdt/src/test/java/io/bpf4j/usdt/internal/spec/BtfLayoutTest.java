package io.bpf4j.usdt.internal.spec;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.Member;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The declarations are those of usdt.bpf.h; offsets as clang 19 gives them. */
class BtfLayoutTest {
    private final BtfBuilder builder = BtfBuilder.create();
    private final int u64 = builder.integer("__u64", 8, 0);
    private final int u8 = builder.integer("__u8", 1, 0);
    private final int s16 = builder.integer("short", 2, BtfType.Int.SIGNED);
    private final int u16 = builder.integer("__u16", 2, 0);
    private final int bool = builder.integer("_Bool", 1, BtfType.Int.BOOL);
    private final int type = builder.add(new BtfType.Enum32("__bpf_usdt_arg_type", 4, false, List.of()));

    @Test
    void of208() {
        int arg = builder.struct(
                "__bpf_usdt_arg_spec",
                16,
                Member.at("val_off", u64, 0),
                Member.at("arg_type", type, 8),
                Member.at("reg_off", s16, 12),
                Member.at("arg_signed", bool, 14),
                Member.at("arg_bitshift", u8, 15));
        int spec = spec(arg, 208, 192);
        assertThat(BtfLayout.of(builder.build("test", ByteOrder.LITTLE_ENDIAN), spec))
                .hasValue(SpecLayout.of208(ByteOrder.LITTLE_ENDIAN));
        assertThat(BtfLayout.of(builder.build("test", ByteOrder.BIG_ENDIAN), spec))
                .hasValue(SpecLayout.of208(ByteOrder.BIG_ENDIAN));
    }

    @Test
    void of304InBothOrders() {
        assertThat(of304(ByteOrder.LITTLE_ENDIAN, 64)).isEqualTo(SpecLayout.of304(ByteOrder.LITTLE_ENDIAN));
        assertThat(of304(ByteOrder.BIG_ENDIAN, 96)).isEqualTo(SpecLayout.of304(ByteOrder.BIG_ENDIAN));
    }

    @Test
    void ofOurOwnHeaderWithThePartOfTheIndexRegister() {
        int arg = builder.struct(
                "__bpf_usdt_arg_spec",
                24,
                Member.at("val_off", u64, 0),
                new Member("arg_type", type, 64, 8),
                new Member("idx_reg_off", u16, 80, 12),
                new Member("scale_bitshift", u16, 92, 4),
                Member.at("idx_bitshift", u8, 12),
                Member.at("idx_signed", bool, 13),
                Member.at("reg_off", s16, 14),
                Member.at("arg_signed", bool, 16),
                Member.at("arg_bitshift", u8, 17));
        int spec = spec(arg, 304, 288);
        assertThat(BtfLayout.of(builder.build("test", ByteOrder.LITTLE_ENDIAN), spec))
                .hasValue(SpecLayoutTest.withIndexSize());
    }

    private SpecLayout of304(ByteOrder order, int typeBit) {
        int arg = builder.struct(
                "__bpf_usdt_arg_spec",
                24,
                Member.at("val_off", u64, 0),
                new Member("arg_type", type, typeBit, 8),
                new Member("idx_reg_off", u16, 80, 12),
                new Member("scale_bitshift", u16, 92, 4),
                Member.at("reg_off", s16, 14),
                Member.at("arg_signed", bool, 16),
                Member.at("arg_bitshift", u8, 17));
        int spec = spec(arg, 304, 288);
        return BtfLayout.of(builder.build("test", order), spec).orElseThrow();
    }

    @Test
    void typesThatAreNoSpecAreNoLayout() {
        int empty = builder.struct("empty", 8);
        int outside = builder.struct(
                "__bpf_usdt_arg_spec",
                16,
                Member.at("val_off", u64, 0),
                Member.at("arg_type", type, 8),
                Member.at("reg_off", s16, 400),
                Member.at("arg_signed", bool, 14),
                Member.at("arg_bitshift", u8, 15));
        int spec = spec(outside, 208, 192);
        int otherArgs = spec(empty, 208, 192);
        var btf = builder.build("test", ByteOrder.LITTLE_ENDIAN);
        assertThat(BtfLayout.of(btf, u64)).isEmpty();
        assertThat(BtfLayout.of(btf, empty)).isEmpty();
        assertThat(BtfLayout.of(btf, spec)).isEmpty();
        assertThat(BtfLayout.of(btf, otherArgs)).isEmpty();
        assertThat(BtfLayout.of(btf, 10_000)).isEmpty();
    }

    private int spec(int arg, int size, int cookie) {
        int array = builder.array(arg, u16, 12);
        return builder.struct(
                "__bpf_usdt_spec",
                size,
                Member.at("args", array, 0),
                Member.at("usdt_cookie", u64, cookie),
                Member.at("arg_cnt", s16, cookie + 8));
    }
}
