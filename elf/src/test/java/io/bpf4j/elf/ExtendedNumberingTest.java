package io.bpf4j.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Counts and indices that don't fit the header's 16 bits. */
class ExtendedNumberingTest {
    static List<ElfBuilder> builders() {
        return SampleElf.builders();
    }

    @ParameterizedTest
    @MethodSource("builders")
    void countsInSectionZero(ElfBuilder builder) {
        byte[] image = SampleElf.full(builder.extendedNumbering());
        ElfFile elf = ElfFile.parse("extended", image);
        assertThat(elf.header().sectionHeaderCount()).isEqualTo(14);
        assertThat(elf.header().sectionNameTableIndex()).isEqualTo(13);
        assertThat(elf.header().programHeaderCount()).isEqualTo(2);
        assertThat(elf.sections()).hasSize(14);
        assertThat(elf.segments()).hasSize(2);
        assertThat(elf.sections().getFirst().size()).isEqualTo(14);
        // What section 0 says of itself is a count, not a place in the file.
        assertThat(elf.data(elf.sections().getFirst()).isEmpty()).isTrue();
        assertThat(elf.symbols("hidden_fn")).hasSize(1);
    }

    @Test
    void seventyThousandSections() {
        ElfBuilder builder = ElfBuilder.elf64().extendedNumbering().paddingSections(70_000);
        int strings = builder.section(".strtab", Section.SHT_STRTAB, SampleElf.strings(builder));
        ByteWriter table = builder.writer();
        ByteWriter extended = builder.writer();
        builder.symbol(table, 0, 0, 0, 0, 0, 0);
        extended.u32(0);
        builder.symbol(table, 1, 0, 0, 0, 0, 0xffff); // in section 0xfff1, an ordinary one
        extended.u32(0xfff1);
        builder.symbol(table, 7, 0, 0, 0, 0, 0xfff1); // absolute
        extended.u32(0);
        builder.symbol(table, 17, 0, 0, 0, 0, 0xffff); // the last section of all, with the names
        extended.u32(70_004);
        int symbols = builder.section(".symtab", Section.SHT_SYMTAB, table.toByteArray(), s -> {
            s.link = strings;
            s.entrySize = builder.elfClass.symbolSize;
        });
        builder.section(".symtab_shndx", Section.SHT_SYMTAB_SHNDX, extended.toByteArray(), s -> s.link = symbols);
        ElfFile elf = ElfFile.parse("many", builder.build());
        assertThat(elf.sections()).hasSize(70_005);
        assertThat(elf.symbols()).extracting(Symbol::sectionIndex).containsExactly(0, 0xfff1, Symbol.SHN_ABS, 70_004);
        assertThat(elf.symbols().toList().get(1).isInSection()).isTrue();
        assertThat(elf.symbols().toList().get(2).isInSection()).isFalse();
        assertThat(elf.section(elf.symbols().toList().get(3).sectionIndex()).name())
                .isEqualTo(".shstrtab");
    }

    @Test
    void anExtendedIndexNeedsItsTable() {
        ElfBuilder builder = ElfBuilder.elf64();
        int strings = builder.section(".strtab", Section.SHT_STRTAB, SampleElf.strings(builder));
        ByteWriter table = builder.writer();
        builder.symbol(table, 1, 0, 0, 0, 0, 0xffff);
        builder.section(".symtab", Section.SHT_SYMTAB, table.toByteArray(), s -> {
            s.link = strings;
            s.entrySize = builder.elfClass.symbolSize;
        });
        ElfFile elf = ElfFile.parse("lost", builder.build());
        assertThatThrownBy(() -> elf.symbols().toList().get(0))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("section index in a SHT_SYMTAB_SHNDX section, which is missing");
    }

    /** Thousands of tables for the same symbols: the first counts, and the others are not even decompressed. */
    @Test
    void theFirstOfSeveralTablesCounts() {
        ElfBuilder builder = ElfBuilder.elf64();
        int strings = builder.section(".strtab", Section.SHT_STRTAB, SampleElf.strings(builder));
        ByteWriter table = builder.writer();
        builder.symbol(table, 1, 0, 0, 0, 0, 0xffff);
        int symbols = builder.section(".symtab", Section.SHT_SYMTAB, table.toByteArray(), s -> {
            s.link = strings;
            s.entrySize = builder.elfClass.symbolSize;
        });
        byte[] extended = builder.writer().u32(symbols).toByteArray();
        builder.section(".symtab_shndx", Section.SHT_SYMTAB_SHNDX, extended, s -> s.link = symbols);
        for (int i = 0; i < 3000; i++) {
            builder.section(".symtab_shndx", Section.SHT_SYMTAB_SHNDX, new byte[4], s -> {
                s.link = symbols;
                s.flags = Section.SHF_COMPRESSED; // too short for its header
            });
        }
        ElfFile elf = ElfFile.parse("several", builder.build());
        assertThat(elf.symbols()).extracting(Symbol::sectionIndex).containsExactly(symbols);
    }

    @Test
    void moreSegmentsThanFitNeedSectionZero() {
        byte[] image = SampleElf.full(ElfBuilder.elf64().withoutSectionHeaders());
        image[56] = (byte) 0xff; // e_phnum
        image[57] = (byte) 0xff;
        assertThatThrownBy(() -> ElfFile.parse("core", image))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("no section 0 with their number");
    }
}
