package io.bpf4j.btf;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.BtfType.EnumValue;
import io.bpf4j.btf.BtfType.Member;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Values shown by their types. */
class TypedValueTest {
    private final BtfBuilder types = BtfBuilder.create();
    private final int s32 = types.integer("int", 4, BtfType.Int.SIGNED);
    private final int u8 = types.integer("unsigned char", 1, 0);
    private final int u64 = types.integer("unsigned long", 8, 0);
    private final int character = types.integer("char", 1, BtfType.Int.SIGNED);

    private String text(int type, ByteOrder order, int size, Consumer<ByteBuffer> fill) {
        ByteBuffer bytes = ByteBuffer.allocate(size).order(order);
        fill.accept(bytes);
        return TypedValue.text(types.build("test", order), type, ByteView.of("value", bytes.array(), order));
    }

    private String text(int type, int size, Consumer<ByteBuffer> fill) {
        return text(type, ByteOrder.LITTLE_ENDIAN, size, fill);
    }

    @ParameterizedTest
    @ValueSource(strings = {"LITTLE_ENDIAN", "BIG_ENDIAN"})
    void everyKindIsShownInBothByteOrders(String name) {
        ByteOrder order = name.equals("BIG_ENDIAN") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        int state = types.add(new BtfType.Enum32("state", 4, false, List.of(new EnumValue("RUNNING", 2))));
        int type = types.struct(
                "all",
                88,
                Member.at("number", s32, 0),
                Member.at("state", state, 4),
                Member.at("large", u64, 8),
                Member.at("next", types.pointer(s32), 16),
                Member.at("comm", types.array(character, s32, 8), 24),
                Member.at("seen", types.array(u8, s32, 8), 32),
                Member.at("ratio", types.add(new BtfType.FloatingPoint("double", 8)), 40),
                Member.at("on", types.integer("_Bool", 1, BtfType.Int.BOOL), 48),
                Member.at("other", state, 52),
                Member.at("wide", types.integer("unsigned __int128", 16, 0), 64),
                Member.at("pair", types.struct("", 8, Member.at("x", s32, 0), Member.at("y", s32, 4)), 80));
        BigInteger wide = BigInteger.ONE.shiftLeft(127).add(BigInteger.TWO);

        assertThat(text(type, order, 88, value -> {
                    value.putInt(-5).putInt(2).putLong(-1).putLong(0xffff888000000010L);
                    value.put("java\0xyz".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
                    value.put(new byte[] {1, 2, 2, 2, 2, 2, 2, 3});
                    value.putDouble(0.5).put(48, (byte) 1).putInt(52, 7);
                    if (order == ByteOrder.LITTLE_ENDIAN) {
                        value.putLong(64, 2).putLong(72, 1L << 63);
                    } else {
                        value.putLong(64, 1L << 63).putLong(72, 2);
                    }
                    value.putInt(80, 3).putInt(84, 4);
                }))
                .isEqualTo("{.number = -5, .state = RUNNING, .large = 18446744073709551615, .next = 0xffff888000000010,"
                        + " .comm = \"java\", .seen = [1, 2 (6 times), 3], .ratio = 0.5, .on = true, .other = 7,"
                        + " .wide = " + wide + ", .pair = {.x = 3, .y = 4}}");
    }

    @Test
    void bitFieldsAreCutOut() {
        int type = types.struct(
                "bits", 4, new Member("a", s32, 0, 3), new Member("b", s32, 3, 20), new Member("c", s32, 23, 9));

        assertThat(text(type, 4, value -> value.putInt(5 | 0x7abcd << 3 | 100 << 23)))
                .isEqualTo("{.a = -3, .b = " + 0x7abcd + ", .c = 100}");
        // A big-endian machine has the first bit-field in the highest bits.
        assertThat(text(type, ByteOrder.BIG_ENDIAN, 4, value -> value.putInt(5 << 29 | 0x7abcd << 9 | 100)))
                .isEqualTo("{.a = -3, .b = " + 0x7abcd + ", .c = 100}");
    }

    @Test
    void aSectionIsAStructOfItsVariables() {
        int a = types.add(new BtfType.Var("a", s32, 1));
        int b = types.add(new BtfType.Var("b", u64, 1));
        int section = types.add(new BtfType.Datasec(
                ".bss", 16, List.of(new BtfType.SectionVariable(a, 0, 4), new BtfType.SectionVariable(b, 8, 8))));

        assertThat(text(section, 16, value -> value.putInt(1).putLong(8, 2))).isEqualTo("{.a = 1, .b = 2}");
    }

    @Test
    void runsOfStructsAreFolded() {
        int array = types.array(types.struct("p", 4, Member.at("x", s32, 0)), s32, 5);

        assertThat(text(array, 20, value -> {})).isEqualTo("[{.x = 0} (5 times)]");
        assertThat(text(types.array(s32, s32, 3), 12, value -> {})).isEqualTo("[0, 0, 0]");
        assertThat(text(types.array(s32, s32, 0), 0, value -> {})).isEqualTo("[]");
    }

    @Test
    void textOfOthersIsEscaped() {
        int text = types.array(character, s32, 8);

        assertThat(text(text, 8, value -> value.put(new byte[] {'a', '"', '\n', 27, '\\', -61})))
                .isEqualTo("\"a\\\"\\x0a\\x1b\\\\\\xc3\"");
    }

    @Test
    void aTypeThatIsLargerThanTheValueIsMalformed() {
        assertThatThrownBy(() -> text(u64, 4, value -> {})).isInstanceOf(MalformedDataException.class);
        assertThatThrownBy(() -> text(types.array(u8, s32, 1L << 31), 4, value -> {}))
                .isInstanceOf(MalformedDataException.class);
    }

    @Test
    void unionsThatMultiplyAreMalformed() {
        int id = types.struct("", 1, Member.at("x", u8, 0));
        for (int i = 0; i < 40; i++) {
            id = types.union("", 1, Member.at("a", id, 0), Member.at("b", id, 0));
        }
        int bomb = id;

        assertThatThrownBy(() -> text(bomb, 1, value -> {}))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("more parts than a value of 1 bytes");
    }

    /** Each member is one part, but has all bytes of the value. */
    @Test
    void unionsOfLongTextsOrArraysAreMalformed() {
        for (int element : new int[] {character, u8}) {
            int all = types.array(element, s32, 4096);
            int bomb = types.union(
                    "", 4096, Collections.nCopies(1000, Member.at("a", all, 0)).toArray(Member[]::new));

            assertThatThrownBy(() ->
                            text(bomb, 4096, value -> value.put("a".repeat(4096).getBytes(US_ASCII))))
                    .isInstanceOf(MalformedDataException.class)
                    .hasMessageContaining("more parts than a value of 4096 bytes");
        }
    }

    @Test
    void elementsWithoutBytesTakeNoTime() {
        int empty = types.struct("empty", 0);

        assertThat(text(types.array(empty, s32, 0xffff_ffffL), 0, value -> {})).isEqualTo("[]");
    }

    /** A search among all constants for each element would take minutes. */
    @Test
    @Timeout(20)
    void constantsAreFoundAtOnce() {
        List<EnumValue> constants = IntStream.range(0, 0xffff)
                .mapToObj(i -> new EnumValue("V" + i, i))
                .toList();
        int many = types.add(new BtfType.Enum32("many", 4, false, constants));
        int count = 1 << 20;

        String text = text(
                types.array(many, s32, count),
                4 * count,
                value -> IntStream.range(0, count).forEach(i -> value.putInt(0xff00 + i % 0xff)));

        assertThat(text).startsWith("[V65280, V65281, ").endsWith(", V65295]");
        assertThat(text(many, 4, value -> value.putInt(0xffff))).isEqualTo("65535");
        int twice = types.add(new BtfType.Enum32(
                "twice",
                1,
                false,
                Stream.concat(constants.stream().limit(200), Stream.of(new EnumValue("LAST", 7)))
                        .toList()));
        assertThat(text(twice, 1, value -> value.put((byte) 7))).as("the first").isEqualTo("V7");
    }

    /** A name of 4,000 characters for each byte. */
    @Test
    void textOfLongNamesIsBounded() {
        String name = "n".repeat(4000);
        int word = types.add(
                new BtfType.Enum32("word", 1, false, List.of(new EnumValue(name, 0), new EnumValue(name + "2", 1))));
        int size = 1 << 16;

        assertThatThrownBy(() -> text(types.array(word, s32, size), size, value -> {
                    while (value.hasRemaining()) {
                        value.put((byte) (value.position() % 2));
                    }
                }))
                .isInstanceOf(MalformedDataException.class);
        int member = types.struct("s", 1, Member.at(name, u8, 0));
        assertThatThrownBy(() -> text(types.array(member, s32, size), size, value -> {
                    while (value.hasRemaining()) {
                        value.put((byte) (value.position() % 2));
                    }
                }))
                .isInstanceOf(MalformedDataException.class);
        assertThat(text(member, 1, value -> {})).isEqualTo("{." + name + " = 0}");
    }
}
