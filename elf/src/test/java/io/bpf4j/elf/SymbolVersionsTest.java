package io.bpf4j.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.internal.symbol.SymbolVersions;
import org.junit.jupiter.api.Test;

class SymbolVersionsTest {
    /** Where the names are in the string table below. */
    private static final int LIBRARY = 1;

    private static final int OLD = 10;
    private static final int NEW = 16;

    private static ByteWriter definition(ByteWriter to, int number, int name, int next) {
        return to.u16(1)
                .u16(0)
                .u16(number)
                .u16(1)
                .u32(0)
                .u32(20)
                .u32(next)
                .u32(name)
                .u32(0);
    }

    /** A library with two versions. */
    static byte[] library() {
        ByteWriter definitions = ElfBuilder.elf64().writer();
        definition(definitions, 1, LIBRARY, 28);
        definition(definitions, 2, OLD, 28);
        definition(definitions, 3, NEW, 0);
        return library(definitions);
    }

    private static byte[] library(ByteWriter definitions) {
        ElfBuilder builder = ElfBuilder.elf64().type(ElfHeader.ET_DYN);
        ByteWriter strings =
                builder.writer().u8(0).string("libx.so.").string("X_1.0").string("X_2.0");
        int names = builder.section(".dynstr", Section.SHT_STRTAB, strings.toByteArray());
        ByteWriter versions = builder.writer().u16(0).u16(0x8002).u16(3).u16(1).u16(0x8005);
        builder.section(".gnu.version", 0x6fffffff, versions.toByteArray());
        builder.section(".gnu.version_d", 0x6ffffffd, definitions.toByteArray(), h -> h.link = names);
        return builder.build();
    }

    private static Symbol symbol(int index) {
        return new Symbol(index, "f", 0x1000, 0, Symbol.STT_FUNC, Symbol.STB_GLOBAL, 0, 5);
    }

    @Test
    void oneNameMayHaveSeveralVersionsOfWhichOneIsTheDefault() {
        SymbolVersions versions = SymbolVersions.of(ElfFile.parse("libx.so", library()));
        assertThat(versions.of(symbol(0))).isEmpty();
        assertThat(versions.of(symbol(1))).contains(new SymbolVersions.Version("X_1.0", false));
        assertThat(versions.of(symbol(2))).contains(new SymbolVersions.Version("X_2.0", true));
        assertThat(versions.of(symbol(3))).as("number 1 stands for no version").isEmpty();
        assertThat(versions.of(symbol(4))).as("a number without a record").isEmpty();
        assertThat(versions.of(symbol(5))).as("beyond the table").isEmpty();
        assertThat(versions.of(new Symbol(1, "f", 0, 0, 2, 1, 0, Symbol.SHN_UNDEF)))
                .as("defined elsewhere")
                .isEmpty();
    }

    @Test
    void aFileWithoutVersionsHasNone() {
        byte[] plain = ElfBuilder.elf64().build();
        assertThat(SymbolVersions.of(ElfFile.parse("x", plain)).of(symbol(1))).isEmpty();
    }

    @Test
    void brokenTablesAreMalformed() {
        ByteWriter beyond = definition(ElfBuilder.elf64().writer(), 2, OLD, 28);
        ElfFile cut = ElfFile.parse("libx.so", library(beyond));
        assertThatThrownBy(() -> SymbolVersions.of(cut)).isInstanceOf(MalformedDataException.class);

        ByteWriter noName = definition(ElfBuilder.elf64().writer(), 2, 10_000, 0);
        ElfFile lost = ElfFile.parse("libx.so", library(noName));
        assertThatThrownBy(() -> SymbolVersions.of(lost)).isInstanceOf(MalformedDataException.class);
    }

    /** Records that overlap, each one byte behind the last, can't make it run on. */
    @Test
    void aListInCirclesEnds() {
        ByteWriter overlapping = ElfBuilder.elf64().writer();
        for (int i = 0; i < 40_000; i++) {
            definition(overlapping, 2, OLD, 28);
        }
        ElfFile elf = ElfFile.parse("libx.so", library(overlapping));
        assertThatThrownBy(() -> SymbolVersions.of(elf))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("versions");
    }
}
