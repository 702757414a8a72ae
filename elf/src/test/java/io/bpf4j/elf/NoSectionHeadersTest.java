package io.bpf4j.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Files stripped of their section table: segments must do. */
class NoSectionHeadersTest {
    private static final long BASE = 0x10000;
    private static final long DT_HASH = 4;
    private static final long DT_GNU_HASH = 0x6ffffef5L;

    static List<ElfBuilder> builders() {
        return SampleElf.builders();
    }

    @ParameterizedTest
    @MethodSource("builders")
    void notesOfSegments(ElfBuilder builder) {
        ElfFile elf = ElfFile.parse("stripped", SampleElf.full(builder.withoutSectionHeaders()));
        assertThat(elf.sections()).isEmpty();
        assertThat(elf.section(".text")).isEmpty();
        assertThat(elf.symbols()).isEmpty();
        assertThat(elf.notes()).hasSize(1);
        assertThat(elf.notes().getFirst().section()).isEqualTo(Optional.empty());
        assertThat(elf.buildId()).contains("abcdef0102030405");
        assertThat(elf.fileOffset(SampleElf.TEXT_ADDRESS)).isPresent();
        assertThatThrownBy(() -> elf.section(0)).isInstanceOf(MalformedDataException.class);
    }

    /** One loaded section with symbols, strings and hash, and a dynamic segment that tells their addresses. */
    static byte[] image(ElfBuilder builder, long hashTag, byte[] hash, int machine) {
        byte[] symbols = SampleElf.symbols(builder, 0);
        byte[] strings = SampleElf.strings(builder);
        ByteWriter image = builder.writer().raw(symbols);
        long stringsAt = image.size();
        image.raw(strings).align(8);
        long hashAt = image.size();
        image.raw(hash);
        ByteWriter tags = builder.writer();
        tags.word(6).word(BASE).word(5).word(BASE + stringsAt).word(10).word(strings.length);
        tags.word(11).word(builder.elfClass.symbolSize);
        if (hashTag != 0) {
            tags.word(hashTag).word(BASE + hashAt);
        }
        tags.word(0).word(0).word(6).word(1); // nothing after DT_NULL counts
        builder.machine(machine).type(ElfHeader.ET_DYN).withoutSectionHeaders();
        int loaded = builder.section("", Section.SHT_PROGBITS, image.toByteArray());
        int dynamic = builder.section("", Section.SHT_PROGBITS, tags.toByteArray());
        builder.segment(Segment.PT_LOAD, loaded, BASE, 4096).segment(Segment.PT_DYNAMIC, dynamic, 0, 8);
        return builder.build();
    }

    private static ElfFile dynamic(ElfBuilder builder, long hashTag, byte[] hash, int machine) {
        return ElfFile.parse("dynamic", image(builder, hashTag, hash, machine));
    }

    /** Two buckets, symbols from 2 on hashed, one bloom word; the last chain starts at 4 and ends at 6. */
    static byte[] withGnuHash(ElfBuilder builder) {
        ByteWriter hash =
                builder.writer().u32(2).u32(2).u32(1).u32(0).word(0).u32(2).u32(4);
        hash.u32(2).u32(3).u32(2).u32(4).u32(5);
        return image(builder, DT_GNU_HASH, hash.toByteArray(), ElfHeader.EM_X86_64);
    }

    @ParameterizedTest
    @MethodSource("builders")
    void dynamicSymbolsBySystemVHash(ElfBuilder builder) {
        byte[] hash = builder.writer().u32(1).u32(7).toByteArray();
        ElfFile elf = dynamic(builder, DT_HASH, hash, ElfHeader.EM_X86_64);
        assertThat(elf.dynamicSymbols()).hasSize(7);
        assertThat(elf.symbols()).hasSize(7);
        assertThat(elf.symbols("hidden_fn"))
                .containsExactly(elf.symbols().toList().get(3));
    }

    @Test
    void s390HasWideHashWords() {
        ElfBuilder builder = new ElfBuilder(ElfClass.ELF64, ByteOrder.BIG_ENDIAN);
        byte[] hash = builder.writer().u64(1).u64(7).toByteArray();
        assertThat(dynamic(builder, DT_HASH, hash, ElfHeader.EM_S390).dynamicSymbols())
                .hasSize(7);
    }

    @ParameterizedTest
    @MethodSource("builders")
    void dynamicSymbolsByGnuHash(ElfBuilder builder) {
        ElfFile elf = ElfFile.parse("dynamic", withGnuHash(builder));
        assertThat(elf.dynamicSymbols()).hasSize(7);
        assertThat(elf.symbols("dup")).hasSize(2);
    }

    @ParameterizedTest
    @MethodSource("builders")
    void gnuHashWithoutHashedSymbols(ElfBuilder builder) {
        byte[] hash =
                builder.writer().u32(1).u32(5).u32(1).u32(0).word(0).u32(0).toByteArray();
        assertThat(dynamic(builder, DT_GNU_HASH, hash, ElfHeader.EM_X86_64).dynamicSymbols())
                .hasSize(5);
    }

    @ParameterizedTest
    @MethodSource("builders")
    void withoutHashTheStringsEndTheSymbols(ElfBuilder builder) {
        assertThat(dynamic(builder, 0, new byte[0], ElfHeader.EM_X86_64).dynamicSymbols())
                .hasSize(7);
    }

    @ParameterizedTest
    @MethodSource("builders")
    void hostileHashes(ElfBuilder builder) {
        byte[] lie = builder.writer().u32(1).u32(0xffffffffL).toByteArray();
        ElfFile elf = dynamic(builder, DT_HASH, lie, ElfHeader.EM_X86_64);
        assertThatThrownBy(elf::dynamicSymbols)
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("4294967295 dynamic symbols");
        for (long[] counts : new long[][] {{0xffffffffL, 0, 0, 0}, {1, 0, 0xffffffffL, 0}, {1, 0, 0, 0xfffffffeL}}) {
            ElfBuilder other = new ElfBuilder(builder.elfClass, builder.order);
            ByteWriter hash = other.writer()
                    .u32(counts[0])
                    .u32(counts[1])
                    .u32(counts[2])
                    .u32(0)
                    .u32(counts[3]);
            ElfFile gnu = dynamic(other, DT_GNU_HASH, hash.toByteArray(), ElfHeader.EM_X86_64);
            assertThatThrownBy(gnu::dynamicSymbols).isInstanceOf(MalformedDataException.class);
        }
    }

    @Test
    void addressesThatNothingLoads() {
        ElfBuilder builder = ElfBuilder.elf64().withoutSectionHeaders();
        byte[] tags = builder.writer()
                .word(6)
                .word(0xbad)
                .word(5)
                .word(0xbad)
                .word(10)
                .word(1)
                .toByteArray();
        builder.segment(Segment.PT_DYNAMIC, builder.section("", Section.SHT_PROGBITS, tags), 0, 8);
        ElfFile elf = ElfFile.parse("unloaded", builder.build());
        assertThatThrownBy(elf::symbols)
                .isInstanceOf(MalformedDataException.class)
                .hasMessageContaining("0xbad, which no segment loads");
    }
}
