package io.bpf4j.loader.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.loader.error.InvalidObjectException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Sections of global data: who may map them, and where their variables are. */
class DataReaderTest {
    private static final int GLOBAL = BtfType.Linkage.GLOBAL;
    private static final int STATIC = BtfType.Linkage.STATIC;

    private final TestObject object = new TestObject();

    private void variable(String section, String name, long offset, int linkage, int visibility) {
        object.variable(section, name, object.integer, offset, 4, linkage, visibility);
    }

    private MapSpec read(String section) {
        return object.parse().map(section);
    }

    private static DataSection data(MapSpec map) {
        return map.data().orElseThrow();
    }

    @Test
    void aSectionIsMappedForWhatOthersSee() {
        object.data(".data", new byte[12]);
        variable(".data", "hidden", 0, GLOBAL, Symbol.STV_HIDDEN);
        variable(".data", "own", 4, STATIC, Symbol.STV_DEFAULT);
        variable(".data", "everybodys", 8, GLOBAL, Symbol.STV_DEFAULT);
        MapSpec map = read(".data");
        assertThat(map.flags()).isEqualTo(MapSpec.F_MMAPABLE);
        assertThat(data(map).variables().stream().filter(GlobalSpec::exported).map(GlobalSpec::name))
                .containsExactly("everybodys");
    }

    @Test
    void aSectionOfHiddenAndStaticVariablesIsNot() {
        object.data(".data.locks", new byte[12]);
        variable(".data.locks", "hidden", 0, GLOBAL, Symbol.STV_HIDDEN);
        variable(".data.locks", "internal", 4, GLOBAL, Symbol.STV_INTERNAL);
        variable(".data.locks", "own", 8, STATIC, Symbol.STV_DEFAULT);
        object.data(".rodata", new byte[4]);
        variable(".rodata", "constant", 0, STATIC, Symbol.STV_DEFAULT);
        assertThat(read(".data.locks").flags()).isZero();
        assertThat(read(".rodata").flags()).isEqualTo(MapSpec.F_RDONLY_PROG);
    }

    @Test
    void norOneOfWhichBtfSaysNothing() {
        object.data(".rodata.str1.1", new byte[12]);
        assertThat(read(".rodata.str1.1").flags()).isEqualTo(MapSpec.F_RDONLY_PROG);
        assertThat(read(".rodata.str1.1").valueTypeId()).isZero();
    }

    @Test
    void staticVariablesOfOneNameAreTwo() {
        object.section(".bss", Section.SHT_NOBITS, Section.SHF_ALLOC, new byte[16]);
        variable(".bss", "x", 12, STATIC, Symbol.STV_DEFAULT);
        variable(".bss", "x", 4, STATIC, Symbol.STV_DEFAULT);
        variable(".bss", "x", 8, GLOBAL, Symbol.STV_DEFAULT);
        DataSection data = data(read(".bss"));
        assertThat(data.variables().stream().map(GlobalSpec::offset)).containsExactly(4, 8, 12);
        assertThat(data.variables().stream().map(GlobalSpec::variableId).distinct())
                .hasSize(3);
    }

    @Test
    void aLinkedObjectHasItsOffsetsInBtf() {
        object.data(".data", new byte[8]);
        int id = object.types.add(new BtfType.Var("x", object.integer, GLOBAL));
        object.types.add(new BtfType.Datasec(".data", 8, List.of(new BtfType.SectionVariable(id, 4, 4))));
        object.symbol("x", 1, 0, 4, Symbol.STT_OBJECT, Symbol.STB_GLOBAL, Symbol.STV_DEFAULT);
        assertThat(data(read(".data")).variables().getFirst().offset()).isEqualTo(4);
    }

    @Test
    void sectionsWithoutBytesMakeNoMap() {
        object.data(".data", new byte[0]);
        object.section(".bss", Section.SHT_NOBITS, Section.SHF_ALLOC, new byte[0]);
        assertThat(object.parse().maps()).isEmpty();
    }

    @Test
    void anotherSizeIsTheLastVariables() {
        object.data(".data", new byte[] {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0});
        variable(".data", "first", 0, GLOBAL, Symbol.STV_DEFAULT);
        object.variable(
                ".data",
                "samples",
                object.types.array(object.integer, object.integer, 2),
                4,
                8,
                GLOBAL,
                Symbol.STV_DEFAULT);
        MapSpec map = read(".data");

        MapSpec longer = map.withSizes(4, 24);
        assertThat(longer.valueSize()).isEqualTo(24);
        assertThat(longer.valueTypeId()).isEqualTo(map.valueTypeId()).isPositive();
        assertThat(data(longer).variables().getLast().size()).isEqualTo(20);
        assertThat(data(longer).variables().getFirst().size()).isEqualTo(4);
        assertThat(data(longer).initial())
                .hasSize(24)
                .startsWith(1, 0, 0, 0, 2, 0, 0, 0, 3)
                .endsWith(new byte[12]);

        MapSpec shorter = map.withSizes(4, 8);
        assertThat(data(shorter).initial()).containsExactly(1, 0, 0, 0, 2, 0, 0, 0);
        assertThat(map.withSizes(4, 12)).isEqualTo(map);
        for (int tooShort : new int[] {4, 0, -8}) {
            assertThatThrownBy(() -> map.withSizes(4, tooShort))
                    .isInstanceOf(InvalidObjectException.class)
                    .hasMessageContaining("samples");
        }
        assertThatThrownBy(() -> map.withSizes(8, 12)).isInstanceOf(InvalidObjectException.class);
    }

    @Test
    void anotherSizeCostsAMapTheTypeOfWhatChanged() {
        int pair = object.types.struct("pair", 8, BtfType.Member.at("a", object.integer, 0));
        object.map("m", object.number("type", 1), object.type("key", object.integer), object.type("value", pair));
        MapSpec map = read("m");
        assertThat(map.withSizes(4, 8)).isEqualTo(map);
        assertThat(map.withSizes(8, 8).keyTypeId()).isZero();
        assertThat(map.withSizes(8, 8).valueTypeId()).isEqualTo(pair);
        assertThat(map.withSizes(4, 16).keyTypeId()).isEqualTo(object.integer);
        assertThat(map.withSizes(4, 16).valueTypeId()).isZero();
    }
}
