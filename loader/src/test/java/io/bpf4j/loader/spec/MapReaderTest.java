package io.bpf4j.loader.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Instructions;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.sys.kernel.MapType;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Map definitions member by member, those that a compiler would not write included. */
class MapReaderTest {
    private static final int HASH = MapType.HASH.number();
    private static final int PROG_ARRAY = MapType.PROG_ARRAY.number();
    private static final int ARRAY_OF_MAPS = MapType.ARRAY_OF_MAPS.number();
    private static final int HASH_OF_MAPS = MapType.HASH_OF_MAPS.number();
    /** r0 = 0; exit. */
    private static final Instruction[] NOTHING = Instructions.decode(io.bpf4j.elf.ByteView.of(
                    "code",
                    new byte[] {(byte) 0xb7, 0, 0, 0, 0, 0, 0, 0, (byte) 0x95, 0, 0, 0, 0, 0, 0, 0},
                    ByteOrder.LITTLE_ENDIAN))
            .toArray(Instruction[]::new);

    private final TestObject object = new TestObject();

    private MapSpec map(BtfType.Member... members) {
        object.map("m", members);
        return object.parse().map("m");
    }

    private static void refused(String reason, Consumer<TestObject> write) {
        TestObject object = new TestObject();
        write.accept(object);
        assertThatThrownBy(object::parse)
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("test.o")
                .hasMessageContaining("\"m")
                .hasMessageContaining(reason);
    }

    @Test
    void everyNumberOfADefinition() {
        MapSpec map = map(
                object.number("type", HASH),
                object.number("key_size", 4),
                object.number("value_size", 12),
                object.number("max_entries", 0xffff_ffffL),
                object.number("map_flags", 1 | 1 << 2),
                object.number("numa_node", 3),
                object.wideNumber("map_extra", 0x1_0000_0005L),
                object.number("pinning", 1));
        assertThat(map)
                .isEqualTo(new MapSpecData(
                        "m",
                        HASH,
                        4,
                        12,
                        -1,
                        5,
                        3,
                        0x1_0000_0005L,
                        0,
                        0,
                        true,
                        true,
                        0,
                        Optional.empty(),
                        List.of(),
                        Optional.empty(),
                        List.of(),
                        Optional.empty()));
    }

    @Test
    void typesGiveSizesAndIds() {
        int pair = object.types.struct("pair", 8, BtfType.Member.at("a", object.integer, 0));
        MapSpec map = map(
                object.number("type", HASH),
                object.type("key", object.integer),
                object.number("key_size", 4),
                object.number("value_size", 8),
                object.type("value", pair));
        assertThat(map.keySize()).isEqualTo(4);
        assertThat(map.valueSize()).isEqualTo(8);
        assertThat(map.keyTypeId()).isEqualTo(object.integer);
        assertThat(map.valueTypeId()).isEqualTo(pair);
        assertThat(map.maxEntries()).isZero();
    }

    @Test
    void mapExtraMayBeNarrow() {
        assertThat(map(object.number("type", HASH), object.number("map_extra", 5))
                        .extra())
                .isEqualTo(5);
    }

    @Test
    void whatContradictsItself() {
        refused("has no type", o -> o.map("m", o.number("max_entries", 1)));
        refused(
                "4 and 8 bytes",
                o -> o.map("m", o.number("type", HASH), o.type("key", o.integer), o.number("key_size", 8)));
        refused(
                "8 and 4 bytes",
                o -> o.map("m", o.number("type", HASH), o.number("value_size", 8), o.type("value", o.integer)));
        refused("\"colour\"", o -> o.map("m", o.number("type", HASH), o.number("colour", 8)));
        refused("pinning 2", o -> o.map("m", o.number("type", HASH), o.number("pinning", 2)));
        refused("not a pointer", o -> o.map("m", o.number("type", HASH), TestObject.member("key", o.integer)));
        refused("not a number", o -> o.map("m", o.type("type", o.integer)));
        refused("no type", o -> o.map("m", o.number("type", 0)));
        refused("not a pointer", o -> o.map("m", o.number("type", HASH), o.wideNumber("max_entries", 1L << 33)));
    }

    @Test
    void aStaticMapIsRefused() {
        refused("static", o -> {
            o.section(".maps", Section.SHT_PROGBITS, Section.SHF_ALLOC, new byte[64]);
            o.variable(
                    ".maps",
                    "m",
                    o.definition(o.number("type", HASH)),
                    0,
                    8,
                    BtfType.Linkage.STATIC,
                    Symbol.STV_DEFAULT);
        });
    }

    @Test
    void mapsInAMap() {
        int inner = object.definition(
                object.number("type", HASH),
                object.type("key", object.integer),
                object.type("value", object.integer),
                object.number("max_entries", 5));
        object.map("first", object.number("type", HASH));
        int outer = object.map("m", object.number("type", ARRAY_OF_MAPS), object.array("values", inner));
        object.relocation(1, 256 + 8 + 2 * 8, outer - 1);
        MapSpec map = object.parse().map("m");
        assertThat(map.slots()).containsExactly(new MapSpec.Slot(2, "first"));
        assertThat(map.keySize()).isEqualTo(4);
        assertThat(map.inner().orElseThrow().maxEntries()).isEqualTo(5);
        assertThat(map.inner().orElseThrow().name()).isEqualTo("m.inner");
    }

    @Test
    void programsInAMap() {
        int program = 1;
        object.program("socket", "tail", NOTHING);
        int proto = object.types.add(new BtfType.FuncProto(object.integer, List.of()));
        object.map("m", object.number("type", PROG_ARRAY), object.number("key_size", 4), object.array("values", proto));
        object.relocation(2, 2 * 8 + 3 * 8, program);
        MapSpec map = object.parse().map("m");
        assertThat(map.slots()).containsExactly(new MapSpec.Slot(3, "tail"));
        assertThat(map.inner()).isEmpty();
        assertThat(map.valueSize()).isEqualTo(4);
    }

    @Test
    void valuesHaveToBeOfTheMapsKind() {
        refused(
                "can't contain",
                o -> o.map("m", o.number("type", HASH), o.array("values", o.definition(o.number("type", HASH)))));
        refused(
                "can't contain",
                o -> o.map("m", o.number("type", PROG_ARRAY), o.array("values", o.definition(o.number("type", HASH)))));
        refused(
                "can't contain",
                o -> o.map(
                        "m",
                        o.number("type", ARRAY_OF_MAPS),
                        o.array("values", o.types.add(new BtfType.FuncProto(o.integer, List.of())))));
        refused("neither maps nor programs", o -> o.map("m", o.number("type", HASH), o.array("values", o.integer)));
        refused(
                "without a length",
                o -> o.map(
                        "m",
                        o.number("type", ARRAY_OF_MAPS),
                        TestObject.member("values", o.types.array(o.types.pointer(o.integer), o.integer, 2))));
        refused(
                "must be the last member",
                o -> o.map(
                        "m",
                        o.number("type", ARRAY_OF_MAPS),
                        o.array("values", o.definition(o.number("type", HASH))),
                        o.number("max_entries", 2)));
        refused(
                "values of 8 bytes",
                o -> o.map(
                        "m",
                        o.number("type", ARRAY_OF_MAPS),
                        o.number("value_size", 8),
                        o.array("values", o.definition(o.number("type", HASH)))));
    }

    @Test
    void anInnerMapIsNeitherPinnedNorAMapOfMaps() {
        refused(
                "can't be pinned",
                o -> o.map(
                        "m",
                        o.number("type", ARRAY_OF_MAPS),
                        o.array("values", o.definition(o.number("type", HASH), o.number("pinning", 1)))));
        refused(
                "nested deeper",
                o -> o.map(
                        "m",
                        o.number("type", ARRAY_OF_MAPS),
                        o.array(
                                "values",
                                o.definition(
                                        o.number("type", ARRAY_OF_MAPS),
                                        o.array("values", o.definition(o.number("type", HASH)))))));
    }

    /** An array of maps, with one relocation in its variable. */
    private static void outer(TestObject object, int type, int keySize, long at, boolean wanted) {
        int inner = object.definition(object.number("type", HASH));
        object.map("first", object.number("type", HASH));
        int first = object.map(
                        "m",
                        object.number("type", type),
                        object.number("key_size", keySize),
                        object.array("values", inner))
                - 1;
        int elsewhere =
                object.symbol("data", object.data(".data", new byte[8]), 0, 8, Symbol.STT_OBJECT, Symbol.STB_GLOBAL, 0);
        object.relocation(1, 256 + at, wanted ? first : elsewhere);
    }

    @Test
    void aStaticValueFillsOneSlot() {
        for (long at : new long[] {2 * 8 + 4, 2 * 8 + 7, 3 * 8 + 64 - 4}) {
            TestObject object = new TestObject();
            outer(object, ARRAY_OF_MAPS, 4, at, true);
            assertThatThrownBy(object::parse)
                    .as("at %d", at)
                    .isInstanceOf(MalformedDataException.class)
                    .hasMessageContaining("slot");
        }
    }

    @Test
    void whatIsRelocatedInAMapIsAStaticValue() {
        for (long at : new long[] {0, 8, 3 * 8 + 64, 512}) {
            TestObject object = new TestObject();
            outer(object, ARRAY_OF_MAPS, 4, at, true);
            assertThatThrownBy(object::parse)
                    .as("at %d", at)
                    .isInstanceOf(MalformedDataException.class)
                    .hasMessageContaining("not of a static value");
        }
    }

    @Test
    void aStaticValueIsAMap() {
        refused("not a map of section .maps", o -> outer(o, ARRAY_OF_MAPS, 4, 16, false));
        refused("keys of 8 bytes", o -> outer(o, HASH_OF_MAPS, 8, 16, true));
    }

    @Test
    void aStaticValueIsAProgram() {
        refused("not a program", o -> {
            o.program(".text", "helper", NOTHING);
            int proto = o.types.add(new BtfType.FuncProto(o.integer, List.of()));
            o.map("m", o.number("type", PROG_ARRAY), o.array("values", proto));
            o.relocation(2, 8, 1);
        });
    }

    @Test
    void slotsAreInTheirSection() {
        for (int type : new int[] {Section.SHT_PROGBITS, Section.SHT_NOBITS}) {
            TestObject object = new TestObject();
            int inner = object.definition(object.number("type", HASH));
            int outer = object.definition(object.number("type", ARRAY_OF_MAPS), object.array("values", inner));
            object.section(".maps", type, Section.SHF_ALLOC, new byte[64]);
            object.variable(".maps", "m", outer, 0, 0xffff_fff0L, BtfType.Linkage.GLOBAL, Symbol.STV_DEFAULT);
            object.relocation(1, 1L << 31, 1);
            assertThatThrownBy(object::parse)
                    .isInstanceOf(InvalidObjectException.class)
                    .hasMessageContaining("or its variable is outside the section");
        }
    }

    @Test
    void twoMapsOfOneName() {
        refused("two maps", o -> {
            o.map("m", o.number("type", HASH));
            o.map("m", o.number("type", HASH));
        });
    }
}
