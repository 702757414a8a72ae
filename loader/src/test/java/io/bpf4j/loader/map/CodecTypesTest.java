package io.bpf4j.loader.map;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.EnumValue;
import io.bpf4j.btf.BtfType.Member;
import io.bpf4j.loader.map.Codec.Length;
import io.bpf4j.loader.map.Codec.Name;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Codecs beside the C types of an object: what fits, and what is said of the rest. */
class CodecTypesTest {
    private final BtfBuilder types = BtfBuilder.create();
    private final int u8 = types.typedef("__u8", types.integer("unsigned char", 1, 0));
    private final int character = types.integer("char", 1, BtfType.Int.SIGNED);
    private final int bool = types.integer("_Bool", 1, BtfType.Int.BOOL);
    private final int s16 = types.typedef("__s16", types.integer("short", 2, BtfType.Int.SIGNED));
    private final int u16 = types.typedef("__u16", types.integer("unsigned short", 2, 0));
    private final int s32 = types.integer("int", 4, BtfType.Int.SIGNED);
    private final int u32 = types.typedef("__u32", types.integer("unsigned int", 4, 0));
    private final int u64 = types.typedef("__u64", types.integer("unsigned long long", 8, 0));
    private final int real = types.add(new BtfType.FloatingPoint("double", 8));
    private final int state =
            types.add(new BtfType.Enum32("state", 4, false, List.of(new EnumValue("A", 0), new EnumValue("B", 1))));

    private String difference(Codec<?> codec, int type) {
        return codec.difference(new CType(types.build("object", ByteOrder.nativeOrder()), type))
                .orElse("");
    }

    private <R extends Record> String difference(Class<R> type, int struct) {
        return difference(Codec.ofRecord(type), struct);
    }

    private int array(int element, int count) {
        return types.array(element, s32, count);
    }

    private int stats() {
        return types.struct(
                "stats",
                24,
                Member.at("duration_ns", u64, 0),
                Member.at("pid", u32, 8),
                Member.at("tgid", u32, 12),
                Member.at("last", s16, 16));
    }

    record Stats(long durationNs, int pid, int tgid, short last) {}

    record Swapped(long durationNs, int tgid, int pid, short last) {}

    record Renamed(long duration, int pid, @Name("tgid") int process, short last) {}

    record RenamedRight(
            @Name("duration_ns") long took,
            int pid,
            @Name("tgid") int process,
            short last) {}

    record Missing(long durationNs, int pid, int tgid) {}

    record Gap(long durationNs, int pid, short last) {}

    record Wide(long durationNs, long pid, short last) {}

    record Sign(long durationNs, int pid, int tgid, char last) {}

    record Real(double durationNs, int pid, int tgid, short last) {}

    @Test
    void componentsStandForTheFieldsOfTheirNames() {
        assertThat(difference(Stats.class, stats())).isEmpty();
        assertThat(difference(RenamedRight.class, stats())).isEmpty();
        assertThat(difference(Stats.class, types.typedef("stats_t", types.add(new BtfType.Const(stats())))))
                .isEmpty();
    }

    @Test
    void whatIsWrongIsSaidWithBothLayouts() {
        assertThat(difference(Swapped.class, stats()))
                .isEqualTo("component \"tgid\" (int at byte 8) corresponds to field \"tgid\", which is at byte 12; in"
                        + " C it is struct stats { __u64 duration_ns @0; __u32 pid @8; __u32 tgid @12; __s16 last"
                        + " @16; } (24 bytes), and in Java Swapped(long durationNs @0, int tgid @8, int pid @12,"
                        + " short last @16) (24 bytes). Declare a record component for each field, in the same"
                        + " order and of the same size; if its name differs from the field's, add @Codec.Name");
        assertThat(difference(Renamed.class, stats()))
                .startsWith("component \"duration\" (long at byte 0) matches no field by name; at its offset is"
                        + " \"duration_ns\"");
        assertThat(difference(Missing.class, stats())).startsWith("field \"last\" at byte 16 has no component");
        assertThat(difference(Gap.class, stats()))
                .startsWith("component \"last\" (short at byte 12) corresponds to field \"last\", which is at byte 16");
        assertThat(difference(Wide.class, stats()))
                .startsWith("component \"pid\" (long at byte 8) corresponds to field \"pid\", but __u32 has 4 bytes,"
                        + " not 8");
    }

    @Test
    void signsCountWhereJavaSaysThem() {
        assertThat(difference(Sign.class, stats()))
                .startsWith("component \"last\" (char at byte 16) corresponds to field \"last\", but __s16 is not an"
                        + " unsigned integer");
        assertThat(difference(Real.class, stats()))
                .startsWith("component \"durationNs\" (double at byte 0) corresponds to field \"duration_ns\", but"
                        + " __u64 is not a floating-point number");
    }

    record Kinds(boolean flag, byte small, char wide, int state, long pointer, double exact) {}

    @Test
    void kindsOfNumbers() {
        int struct = types.struct(
                "kinds",
                24 + 8,
                Member.at("flag", bool, 0),
                Member.at("small", u8, 1),
                Member.at("wide", u16, 2),
                Member.at("state", state, 4),
                Member.at("pointer", types.pointer(s32), 8),
                Member.at("exact", real, 16));
        assertThat(difference(Kinds.class, struct)).startsWith("struct kinds has 32 bytes, not 24");
        int fitting = types.struct("kinds", 24, new Member[] {
            Member.at("flag", bool, 0),
            Member.at("small", u8, 1),
            Member.at("wide", u16, 2),
            Member.at("state", state, 4),
            Member.at("pointer", types.pointer(s32), 8),
            Member.at("exact", real, 16)
        });
        assertThat(difference(Kinds.class, fitting)).isEmpty();
    }

    @SuppressWarnings("ArrayRecordComponent") // never made
    record Arrays(
            @Length(16) String comm,
            @Length(6) int[] table,
            @Length(8) byte[] raw) {}

    @Test
    void arrays() {
        int table = array(array(u32, 3), 2);
        int struct = types.struct(
                "arrays",
                48,
                Member.at("comm", array(character, 16), 0),
                Member.at("table", table, 16),
                Member.at("raw", u64, 40));
        assertThat(difference(Arrays.class, struct)).as("bytes for a number").isEmpty();
        int wrong = types.struct(
                "arrays",
                48,
                Member.at("comm", array(u32, 4), 0),
                Member.at("table", table, 16),
                Member.at("raw", u64, 40));
        assertThat(difference(Arrays.class, wrong))
                .startsWith("component \"comm\" (String[16] at byte 0) corresponds to field \"comm\", but __u32[4] is"
                        + " not an array of characters");
        int halves = types.struct(
                "arrays",
                48,
                Member.at("comm", array(u8, 16), 0),
                Member.at("table", array(u16, 12), 16),
                Member.at("raw", u64, 40));
        assertThat(difference(Arrays.class, halves))
                .startsWith("component \"table\" (int[6] at byte 16) corresponds to field \"table\", but __u16 has 2"
                        + " bytes");
    }

    record Inner(int b, int a) {}

    record Outer(long time, Inner inner) {}

    @Test
    void structsInStructs() {
        int right = types.struct("inner", 8, Member.at("b", s32, 0), Member.at("a", s32, 4));
        int swapped = types.struct("inner", 8, Member.at("a", s32, 0), Member.at("b", s32, 4));
        assertThat(difference(
                        Outer.class,
                        types.struct("outer", 16, Member.at("time", u64, 0), Member.at("inner", right, 8))))
                .isEmpty();
        assertThat(difference(
                        Outer.class,
                        types.struct("outer", 16, Member.at("time", u64, 0), Member.at("inner", swapped, 8))))
                .startsWith("component \"inner\" (Inner at byte 8) corresponds to field \"inner\", but component \"b\""
                        + " (int at byte 0) corresponds to field \"b\", which is at byte 4");
    }

    record OneOf(int kind, int asNumber) {}

    record Flags(int kind, int flags) {}

    record Two(int kind, int low) {}

    @Test
    void unionsAndBitFields() {
        int halves = types.struct("", 4, Member.at("low", u16, 0), Member.at("high", u16, 2));
        int union = types.add(new BtfType.Union(
                "",
                4,
                List.of(Member.at("as_number", u32, 0), Member.at("as_state", state, 0), Member.at("", halves, 0))));
        int struct = types.struct("one", 8, Member.at("kind", u32, 0), Member.at("", union, 4));
        assertThat(difference(OneOf.class, struct)).isEmpty();
        assertThat(difference(Two.class, struct))
                .startsWith("component \"low\" (int at byte 4) corresponds to field \"low\", but __u16 has 2 bytes");
        int bits = types.struct(
                "bits",
                8,
                Member.at("kind", u32, 0),
                new Member("urgent", u32, 32, 1),
                new Member("prio", u32, 33, 7),
                new Member("", u32, 40, 24));
        assertThat(difference(Flags.class, bits)).isEmpty();
    }

    record Pid(int value) {}

    @Test
    void singleValues() {
        int wrapped = types.struct("id", 4, Member.at("number", u32, 0));
        assertThat(difference(Codec.ofInt(), u32)).isEmpty();
        assertThat(difference(Codec.ofInt(), state)).isEmpty();
        assertThat(difference(Codec.ofInt(), wrapped)).isEmpty();
        assertThat(difference(Codec.ofRecord(Pid.class), u32)).isEmpty();
        assertThat(difference(Codec.ofUnsignedInt(), u32)).isEmpty();
        assertThat(difference(Codec.ofUnsignedByte(), u8)).isEmpty();
        assertThat(difference(Codec.ofByte(), u8)).isEmpty();
        assertThat(difference(Codec.ofBoolean(), u8)).isEmpty();
        assertThat(difference(Codec.ofUnsignedShort(), u32)).isEqualTo("__u32 has 4 bytes, not 2");
        assertThat(difference(Codec.ofInt(), array(u8, 4))).isEqualTo("__u8[4] is not an integer");
        assertThat(difference(Codec.ofLong(), real)).isEqualTo("double is not an integer");
        assertThat(difference(Codec.ofLong(), types.struct("two", 8, Member.at("a", u32, 0), Member.at("b", u32, 4))))
                .isEqualTo("struct two is not an integer");
        assertThat(difference(Codec.ofString(4), array(u8, 4))).isEmpty();
        assertThat(difference(Codec.ofString(4), u32)).isEqualTo("__u32 is not an array of characters");
        assertThat(difference(Codec.ofBytes(4), wrapped)).isEmpty();
        assertThat(difference(Codec.ofRecord(Stats.class), u64))
                .startsWith("__u64 is not a struct, but Stats(long durationNs @0");
    }

    @Test
    void codecsOfOthersAreComparedBySize() {
        Codec<String> own = new Codec<>() {
            @Override
            public long size() {
                return 4;
            }

            @Override
            public String decode(MemorySegment source, long offset) {
                return "";
            }

            @Override
            public void encode(String value, MemorySegment target, long offset) {}
        };
        assertThat(difference(own, array(u16, 2))).isEmpty();
        assertThat(difference(own, u64)).isEqualTo("__u64 has 8 bytes, not 4");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void structsThatHoldThemselvesEnd(boolean named) {
        int id = types.nextId();
        Member[] itself = new Member[1000];
        java.util.Arrays.fill(itself, Member.at(named ? "self" : "", id, 0));
        types.struct("s", 24, itself);
        org.assertj.core.api.Assertions.assertThatThrownBy(() -> {
                    String difference = difference(Stats.class, id);
                    throw new IllegalArgumentException(difference);
                })
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(e -> assertThat(e.getMessage()).isNotBlank().hasSizeLessThan(5_000));
    }
}
