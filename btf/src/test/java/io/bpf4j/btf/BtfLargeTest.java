package io.bpf4j.btf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** BTF with a million types, as long as chains and as wide as it gets. The time limits end what would hang. */
@Timeout(1200)
class BtfLargeTest {
    private static final int MILLION = 1_000_000;
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    /** Kinds as the format numbers them. */
    private static final int PTR = 2;

    private static final int ARRAY = 3;
    private static final int STRUCT = 4;
    private static final int TYPEDEF = 8;

    /** A type of three words, the least there is. */
    private static void type(ByteBuffer types, int name, int kind, int length, int sizeOrType) {
        types.putInt(name).putInt((kind << 24) | length).putInt(sizeOrType);
    }

    private static Btf parse(ByteBuffer types, String strings) {
        byte[] text = strings.getBytes(StandardCharsets.ISO_8859_1);
        int length = types.position();
        ByteBuffer all = ByteBuffer.allocate(24 + length + text.length).order(ORDER);
        all.putShort((short) 0xeb9f).put((byte) 1).put((byte) 0).putInt(24);
        all.putInt(0).putInt(length).putInt(length).putInt(text.length);
        all.put(types.flip()).put(text);
        return Btf.parse(ByteView.of("large", all.array(), ORDER));
    }

    private static ByteBuffer room(int bytes) {
        return ByteBuffer.allocate(bytes).order(ORDER);
    }

    @Test
    void aMillionNamesAreFound() {
        StringBuilder names = new StringBuilder("\0");
        ByteBuffer types = room(12 * MILLION);
        for (int i = 0; i < MILLION; i++) {
            type(types, names.length(), STRUCT, 0, i);
            names.append("type_").append(i).append('\0');
        }
        Btf btf = parse(types, names.toString());
        assertThat(btf.typeCount()).isEqualTo(MILLION + 1);
        assertThat(btf.find("type_999999", BtfKind.STRUCT)).hasValue(MILLION);
        assertThat(btf.find("type_0", BtfKind.STRUCT)).hasValue(1);
        assertThat(btf.find("type_1000000", BtfKind.STRUCT)).isEmpty();
        assertThat(btf.size(MILLION)).isEqualTo(MILLION - 1);
    }

    @Test
    void aMillionTypesMayHaveOneName() {
        ByteBuffer types = room(12 * MILLION);
        for (int i = 0; i < MILLION; i++) {
            type(types, 1, STRUCT, 0, 8);
        }
        Btf btf = parse(types, "\0same\0");
        assertThat(btf.idsNamed("same")).hasSize(MILLION);
        assertThat(btf.find("same", BtfKind.STRUCT)).isPresent();
    }

    /** "Aa" and "BB" have one hash code, and so have all texts that are made of them. */
    @Test
    void namesOfOneHashCodeAreRefusedBeforeTheyTakeLong() {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 1 << 15; i++) {
            StringBuilder name = new StringBuilder();
            for (int bit = 0; bit < 15; bit++) {
                name.append((i >> bit & 1) == 0 ? "Aa" : "BB");
            }
            names.add(name.toString());
        }
        assertThat(names)
                .extracting(String::hashCode)
                .containsOnly(names.getFirst().hashCode());
        Btf btf = parse(names, STRUCT);
        assertThat(btf.find(names.getLast(), BtfKind.STRUCT)).hasValue(1 << 15);
        assertThat(lookups(names, btf::idsNamed)).isLessThan(1000);
        assertThat(lookups(names, parse(names, STRUCT)::idsNamedEssentially)).isLessThan(1000);
    }

    /** A name that many types of another kind have, and many flavours of a name. */
    @Test
    void typesOfOneNameAreRefusedBeforeTheyTakeLong() {
        Btf same = parse(Collections.nCopies(1 << 15, "data"), STRUCT);
        List<String> wanted = Collections.nCopies(1 << 15, "data");
        assertThat(lookups(wanted, name -> same.find(name, BtfKind.STRUCT))).isEqualTo(1 << 15);
        assertThat(lookups(wanted, name -> same.find(name, BtfKind.DATASEC))).isLessThan(1000);

        List<String> flavours =
                IntStream.range(0, 1 << 15).mapToObj(i -> "data___" + i).toList();
        assertThat(lookups(flavours, parse(flavours, STRUCT)::idsNamed)).isLessThan(1000);
        List<String> plain =
                IntStream.range(0, 1 << 15).mapToObj(i -> "data__" + i).toList();
        assertThat(lookups(plain, parse(plain, STRUCT)::idsNamed)).isEqualTo(1 << 15);
    }

    private static Btf parse(List<String> names, int kind) {
        StringBuilder strings = new StringBuilder("\0");
        ByteBuffer types = room(12 * names.size());
        for (String name : names) {
            type(types, strings.length(), kind, 0, 8);
            strings.append(name).append('\0');
        }
        return parse(types, strings.toString());
    }

    /** How many look-ups succeed before one is refused. */
    private static int lookups(List<String> names, Consumer<String> lookup) {
        int count = 0;
        try {
            for (String name : names) {
                lookup.accept(name);
                count++;
            }
        } catch (MalformedDataException e) {
            assertThat(e).hasMessageContaining("equal hash codes");
        }
        return count;
    }

    /** A string of a megabyte, and names that start at each of its bytes: half a terabyte if each were made. */
    @Test
    void namesThatShareOneStringAreRefused() {
        String strings = "\0" + "x".repeat(MILLION) + "\0";
        ByteBuffer types = room(12 * (65_535 + 2));
        type(types, 0, STRUCT, 65_535, 8);
        for (int i = 0; i < 65_535; i++) {
            types.putInt(1 + i).putInt(0).putInt(0);
        }
        type(types, 1, STRUCT, 0, 8);
        Btf btf = parse(types, strings);
        assertThatThrownBy(() -> btf.type(1)).isInstanceOf(MalformedDataException.class);
        assertThatThrownBy(() -> btf.idsNamed("x")).isInstanceOf(MalformedDataException.class);
    }

    /** The same with names that are just short enough. */
    @Test
    void namesThatOverlapTooMuchAreRefused() {
        StringBuilder strings = new StringBuilder("\0");
        for (int i = 0; i < 16; i++) {
            strings.append("y".repeat(4_000)).append('\0');
        }
        ByteBuffer types = room(12 * (65_535 + 1) + 12 * 60_000);
        type(types, 0, STRUCT, 65_535, 8);
        for (int i = 0; i < 65_535; i++) {
            types.putInt(1 + i % 16 * 4_001).putInt(0).putInt(0);
        }
        for (int i = 0; i < 60_000; i++) {
            type(types, 1 + i % 16 * 4_001, STRUCT, 0, 8);
        }
        Btf btf = parse(types, strings.toString());
        assertThatThrownBy(() -> btf.type(1)).hasMessageContaining("overlap");
        assertThatThrownBy(() -> btf.idsNamed("y")).hasMessageContaining("overlap");
    }

    @Test
    void aChainOfAMillionTypesIsFollowedOrRefused() {
        ByteBuffer types = room(12 * MILLION + 12);
        for (int id = 1; id < MILLION; id++) {
            type(types, 1, TYPEDEF, 0, id + 1);
        }
        type(types, 1, STRUCT, 0, 8);
        Btf btf = parse(types, "\0t\0");
        assertThatThrownBy(() -> btf.resolve(1)).isInstanceOf(MalformedDataException.class);
        assertThatThrownBy(() -> btf.size(1)).isInstanceOf(MalformedDataException.class);
        assertThat(btf.size(MILLION - 2)).isEqualTo(8);
    }

    @Test
    void arraysOfArraysEndWithoutOverflow() {
        int depth = 100_000;
        ByteBuffer types = room(24 * depth + 12);
        for (int id = 1; id < depth; id++) {
            type(types, 0, ARRAY, 0, 0);
            types.putInt(id + 1).putInt(id + 1).putInt(2);
        }
        type(types, 1, STRUCT, 0, 8);
        Btf btf = parse(types, "\0t\0");
        assertThatThrownBy(() -> btf.size(1)).isInstanceOf(MalformedDataException.class);
        assertThat(btf.size(depth - 3)).isEqualTo(8 * 8);
    }

    @Test
    void pointersThatLeadInCirclesHaveASize() {
        ByteBuffer types = room(12 * MILLION);
        for (int id = 1; id <= MILLION; id++) {
            type(types, 0, PTR, 0, id % MILLION + 1);
        }
        Btf btf = parse(types, "\0");
        assertThat(btf.size(1)).isEqualTo(8);
        assertThat(btf.resolve(MILLION)).isEqualTo(MILLION);
    }

    @Test
    void anIncompleteTypeOfManyMembersIsRefused() {
        ByteBuffer types = room(12);
        type(types, 1, STRUCT, 0xffff, 8);
        assertThatThrownBy(() -> parse(types, "\0t\0"))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("ends beyond the type section");
    }
}
