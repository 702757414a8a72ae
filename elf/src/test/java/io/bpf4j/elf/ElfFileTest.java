package io.bpf4j.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.internal.text.FileName;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a sound file says, read back in both classes and byte orders. */
class ElfFileTest {
    static List<ElfBuilder> builders() {
        return SampleElf.builders();
    }

    private static ElfFile sample(ElfBuilder builder) {
        return ElfFile.parse("sample", SampleElf.full(builder));
    }

    @ParameterizedTest
    @MethodSource("builders")
    void header(ElfBuilder builder) {
        ElfHeader header = sample(builder).header();
        assertThat(header.elfClass()).isEqualTo(builder.elfClass);
        assertThat(header.order()).isEqualTo(builder.order);
        assertThat(header.osAbi()).isEqualTo(3);
        assertThat(header.abiVersion()).isEqualTo(1);
        assertThat(header.type()).isEqualTo(ElfHeader.ET_REL);
        assertThat(header.machine()).isEqualTo(ElfHeader.EM_BPF);
        assertThat(header.isBpf()).isTrue();
        assertThat(header.entry()).isEqualTo(0x401000);
        assertThat(header.flags()).isEqualTo(0x12345678);
        assertThat(header.programHeaderCount()).isEqualTo(2);
        assertThat(header.sectionHeaderCount()).isEqualTo(14);
    }

    @ParameterizedTest
    @MethodSource("builders")
    void sections(ElfBuilder builder) {
        ElfFile elf = sample(builder);
        assertThat(elf.sections())
                .extracting(Section::name)
                .containsExactly(
                        "",
                        ".text",
                        ".strtab",
                        ".symtab",
                        ".rel.text",
                        ".rela.text",
                        ".note.gnu.build-id",
                        ".note.wide",
                        ".bss",
                        ".debug_str",
                        ".zdebug_line",
                        ".gnu_debuglink",
                        ".gnu_debugdata",
                        ".shstrtab");
        Section text = elf.section(".text").orElseThrow();
        assertThat(text)
                .isEqualTo(new Section(
                        1,
                        ".text",
                        Section.SHT_PROGBITS,
                        Section.SHF_ALLOC | Section.SHF_EXECINSTR,
                        SampleElf.TEXT_ADDRESS,
                        text.offset(),
                        64,
                        0,
                        0,
                        16,
                        0));
        assertThat(text.isExecutable()).isTrue();
        assertThat(elf.section(1)).isSameAs(text);
        assertThat(elf.data(text).size()).isEqualTo(64);
        assertThat(elf.data(text).base()).isEqualTo(text.offset());
        assertThat(elf.data(text).order()).isEqualTo(builder.order);
        assertThat(elf.section(".bss").orElseThrow().size()).isEqualTo(1L << 30);
        assertThat(elf.data(elf.section(".bss").orElseThrow()).isEmpty()).isTrue();
        assertThat(elf.section(".nothing")).isEmpty();
        assertThatThrownBy(() -> elf.section(14))
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("refers to section 14, but there are 14 sections");
    }

    @ParameterizedTest
    @MethodSource("builders")
    void segmentsAndFileOffsets(ElfBuilder builder) {
        ElfFile elf = sample(builder);
        Section text = elf.section(".text").orElseThrow();
        Segment load = elf.segments().getFirst();
        assertThat(load)
                .isEqualTo(new Segment(
                        0,
                        Segment.PT_LOAD,
                        Segment.PF_R | Segment.PF_X,
                        text.offset(),
                        SampleElf.TEXT_ADDRESS,
                        SampleElf.TEXT_ADDRESS,
                        64,
                        80,
                        4096));
        assertThat(load.isExecutable()).isTrue();
        assertThat(elf.data(load).size()).isEqualTo(64);
        assertThat(elf.fileOffset(SampleElf.TEXT_ADDRESS)).isEqualTo(OptionalLong.of(text.offset()));
        assertThat(elf.fileOffset(SampleElf.TEXT_ADDRESS + 63)).isEqualTo(OptionalLong.of(text.offset() + 63));
        // In memory, but beyond what the file holds.
        assertThat(elf.fileOffset(SampleElf.TEXT_ADDRESS + 64)).isEmpty();
        assertThat(elf.fileOffset(SampleElf.TEXT_ADDRESS - 1)).isEmpty();
        assertThat(elf.fileOffset(-1)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("builders")
    void symbols(ElfBuilder builder) {
        ElfFile elf = sample(builder);
        assertThat(elf.symbols())
                .containsExactly(
                        new Symbol(0, "", 0, 0, 0, 0, 0, 0),
                        new Symbol(1, "", 0, 0, Symbol.STT_SECTION, Symbol.STB_LOCAL, 0, 1),
                        new Symbol(2, "local", 4, 8, Symbol.STT_NOTYPE, Symbol.STB_LOCAL, 0, 1),
                        new Symbol(3, "hidden_fn", 8, 16, Symbol.STT_FUNC, Symbol.STB_WEAK, Symbol.STV_HIDDEN, 1),
                        new Symbol(
                                4, "object", 0xfffffff0L, 4, Symbol.STT_OBJECT, Symbol.STB_GLOBAL, 0, Symbol.SHN_ABS),
                        new Symbol(5, "dup", 1, 0, Symbol.STT_NOTYPE, Symbol.STB_GLOBAL, 0, 0),
                        new Symbol(6, "dup", 2, 0, Symbol.STT_FUNC, Symbol.STB_LOCAL, 0, Symbol.SHN_COMMON));
        Symbol hidden = elf.symbols().toList().get(3);
        assertThat(hidden.isHidden()).isTrue();
        assertThat(hidden.isWeak()).isTrue();
        assertThat(hidden.isFunction()).isTrue();
        assertThat(hidden.isInSection()).isTrue();
        assertThat(elf.symbols().toList().get(4).isDefined()).isTrue();
        assertThat(elf.symbols().toList().get(4).isInSection()).isFalse();
        assertThat(elf.symbols().toList().get(5).isDefined()).isFalse();
        assertThat(elf.symbols().toList().get(2).name()).isEqualTo("local");
        assertThat(elf.dynamicSymbols()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("builders")
    void symbolsByName(ElfBuilder builder) {
        ElfFile elf = sample(builder);
        assertThat(elf.symbols("object")).containsExactly(elf.symbols().toList().get(4));
        assertThat(elf.symbols("dup"))
                .containsExactly(
                        elf.symbols().toList().get(5), elf.symbols().toList().get(6));
        assertThat(elf.symbols("")).isEmpty();
        assertThat(elf.symbols("du")).isEmpty();
        assertThat(elf.symbols("dupe")).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("builders")
    void relocations(ElfBuilder builder) {
        ElfFile elf = sample(builder);
        Relocation first = new Relocation(8, 1, 3, 0, false);
        Relocation second = new Relocation(16, 10, 4, 0, false);
        Relocation third = new Relocation(24, 2, 2, -4, true);
        assertThat(elf.relocations(elf.section(".rel.text").orElseThrow())).containsExactly(first, second);
        assertThat(elf.relocations(elf.section(".rela.text").orElseThrow())).containsExactly(third);
        assertThat(elf.relocations(elf.section(".text").orElseThrow())).containsExactly(first, second, third);
        assertThat(elf.relocations(elf.section(".strtab").orElseThrow())).isEmpty();
    }

    @Test
    void littleEndianMips64HasItsOwnRelocationInfo() {
        // r_sym 5, r_ssym 1, r_type3 2, r_type2 3, r_type 4, in this order, in the file.
        for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
            ElfBuilder builder = new ElfBuilder(ElfClass.ELF64, order).machine(ElfHeader.EM_MIPS);
            byte[] entry =
                    builder.writer().u64(0x10).u32(5).u8(1).u8(2).u8(3).u8(4).toByteArray();
            int index = builder.section(".rel", Section.SHT_REL, entry, s -> s.entrySize = 16);
            ElfFile elf = ElfFile.parse("mips", builder.build());
            assertThat(elf.relocations(elf.section(index)))
                    .containsExactly(new Relocation(0x10, 0x01020304, 5, 0, false));
        }
    }

    @ParameterizedTest
    @MethodSource("builders")
    void notesAndBuildId(ElfBuilder builder) {
        ElfFile elf = sample(builder);
        assertThat(elf.notes()).hasSize(2);
        Note first = elf.notes().getFirst();
        assertThat(first.section()).isEqualTo(Optional.of(".note.gnu.build-id"));
        assertThat(first.owner()).isEqualTo("GNU");
        assertThat(first.type()).isEqualTo(Note.NT_GNU_BUILD_ID);
        assertThat(first.description().toByteArray()).isEqualTo(SampleElf.BUILD_ID);
        assertThat(first.description().order()).isEqualTo(builder.order);
        Note wide = elf.notes(elf.section(".note.wide").orElseThrow()).getFirst();
        assertThat(wide.owner()).isEqualTo("five5");
        assertThat(wide.description().toByteArray()).containsExactly(1, 2, 3);
        assertThat(elf.buildId()).contains("abcdef0102030405");
    }

    @ParameterizedTest
    @MethodSource("builders")
    void compressedSections(ElfBuilder builder) {
        ElfFile elf = sample(builder);
        assertThat(elf.data(elf.section(".debug_str").orElseThrow()).toByteArray())
                .isEqualTo(SampleElf.LONG_TEXT);
        ByteView line = elf.data(elf.section(".zdebug_line").orElseThrow());
        assertThat(line.toByteArray()).isEqualTo(SampleElf.LONG_TEXT);
        assertThat(line.source()).isEqualTo("sample section .zdebug_line (decompressed)");
        assertThat(line.order()).isEqualTo(builder.order);
    }

    @ParameterizedTest
    @MethodSource("builders")
    void debugLinkAndMiniDebugInfo(ElfBuilder builder) {
        ElfFile elf = sample(builder);
        assertThat(elf.debugLink()).contains(new DebugLink(FileName.of("sample.debug"), 0xdeadbeefL));
        ElfFile mini = elf.miniDebugInfo().orElseThrow();
        assertThat(mini.bytes().toByteArray()).isEqualTo(SampleElf.inner());
        assertThat(mini.symbols("hidden_fn")).hasSize(1);
        assertThat(mini.source()).isEqualTo("sample section .gnu_debugdata (decompressed)");
        assertThat(mini.miniDebugInfo()).isEmpty();
        assertThat(mini.debugLink()).isEmpty();
        assertThat(mini.buildId()).isEmpty();
    }

    @Test
    void machinesHaveNames() {
        assertThat(machineName(ElfHeader.EM_X86_64)).isEqualTo("x86_64");
        assertThat(machineName(ElfHeader.EM_BPF)).isEqualTo("bpf");
        assertThat(machineName(4711)).isEqualTo("machine 4711");
    }

    private static String machineName(int machine) {
        return ElfFile.parse("x", ElfBuilder.elf64().machine(machine).build())
                .header()
                .machineName();
    }

    @Test
    void parsedFromBytesItHasNoPath() {
        ElfFile elf = sample(ElfBuilder.elf64());
        assertThat(elf.path()).isEmpty();
        assertThat(elf.containerOffset()).isZero();
        assertThat(elf.source()).isEqualTo("sample");
        elf.close();
        elf.close();
        assertThat(elf.notes()).hasSize(2);
    }
}
