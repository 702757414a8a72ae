package io.bpf4j.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lies, one at a time: each is told plainly, with its place, in bounded time. */
class MalformedElfTest {
    private static void malformed(ThrowingCallable code, String problem) {
        assertThatThrownBy(code)
                .isExactlyInstanceOf(MalformedDataException.class)
                .hasMessageContaining(problem);
    }

    private static void notElf(byte[] bytes, String problem) {
        malformed(() -> ElfFile.parse("x", bytes), problem);
    }

    @Test
    void notAnElfFile() {
        notElf(new byte[0], "x at 0x0: not an ELF file: it is empty");
        notElf(
                "#!/bin/sh\n".getBytes(StandardCharsets.US_ASCII),
                "x at 0x0: not an ELF file: starts with 23 21 2f 62 \"#!/b\"");
        notElf(new byte[] {0x7f, 'E'}, "not an ELF file: starts with 7f 45 \".E\"");
        notElf(new byte[] {0x7f, 'E', 'L', 'F', 2, 1}, "ELF file cut short: 6 bytes, less than the 16");
        notElf(ident(3, 1, 1), "ELF class 3");
        notElf(ident(2, 0, 1), "byte order 0");
        notElf(ident(2, 1, 2), "ELF version 2");
        notElf(ident(2, 1, 1), "ELF file cut short: 16 bytes, less than its header of 64");
        notElf(ident(1, 1, 1), "ELF file cut short: 16 bytes, less than its header of 52");
    }

    private static byte[] ident(int elfClass, int order, int version) {
        byte[] ident = new byte[16];
        ident[0] = 0x7f;
        ident[1] = 'E';
        ident[2] = 'L';
        ident[3] = 'F';
        ident[4] = (byte) elfClass;
        ident[5] = (byte) order;
        ident[6] = (byte) version;
        return ident;
    }

    /** Overwrites a field of the header of a sound 64-bit file. */
    @ParameterizedTest
    @CsvSource({
        "40, 8, -1, section table at the end of the address space",
        "40, 8, 0x7fffffffffffffff, section table where only an overflow finds room",
        "32, 8, -16, segment table at the end of the address space",
        "54, 2, 0, segment entries of 0 bytes",
        "54, 2, 55, segment entries one byte too small",
        "58, 2, 0, section entries of 0 bytes",
        "58, 2, 63, section entries one byte too small",
        "58, 2, 0xffff, section entries of 64 KiB",
        "60, 2, 0xfeff, too many sections for the file",
        "56, 2, 0xfffe, too many segments for the file",
        "62, 2, 14, names in a section that isn't there",
        "62, 2, 1, names in a section that isn't a string table",
        "62, 2, 0xff00, names in a reserved section",
        "60, 2, 0, no sections by section 0, but names"
    })
    void headerFields(int at, int width, String value, String why) {
        byte[] image = SampleElf.full(ElfBuilder.elf64());
        long number = Long.decode(value);
        for (int i = 0; i < width; i++) {
            image[at + i] = (byte) (number >>> (8 * i));
        }
        assertThatThrownBy(() -> ElfFile.parse("x", image)).as(why).isExactlyInstanceOf(MalformedDataException.class);
    }

    @Test
    void sectionZeroMayClaimBillions() {
        ElfBuilder builder = ElfBuilder.elf64().extendedNumbering();
        byte[] image = builder.build();
        int zero = image.length - 2 * 64;
        for (int i = 0; i < 8; i++) {
            image[zero + 32 + i] = (byte) 0xff;
        }
        notElf(image, "table of 18446744073709551615 sections of 64 bytes");
    }

    private static ElfFile with(int type, byte[] data, Consumer<ElfBuilder.Header> edit) {
        ElfBuilder builder = ElfBuilder.elf64();
        int strings = builder.section(".strtab", Section.SHT_STRTAB, SampleElf.strings(builder));
        builder.section("victim", type, data, s -> {
            s.link = strings;
            s.info = 1;
            edit.accept(s);
        });
        return ElfFile.parse("x", builder.build());
    }

    private static Section victim(ElfFile elf) {
        return elf.section("victim").orElseThrow();
    }

    @Test
    void sectionsOutsideTheFile() {
        ElfFile far = with(Section.SHT_PROGBITS, new byte[8], s -> s.offset = 1 << 20);
        malformed(() -> far.data(victim(far)), "section 2 (victim) of 8 bytes at 0x100000 lies outside the file of");
        ElfFile huge = with(Section.SHT_PROGBITS, new byte[8], s -> s.size = 1L << 32);
        malformed(() -> huge.data(victim(huge)), "section 2 (victim) of 4294967296 bytes");
        ElfFile wraps = with(Section.SHT_PROGBITS, new byte[8], s -> {
            s.offset = 64;
            s.size = -1 - 63;
        });
        malformed(() -> wraps.data(victim(wraps)), "of 18446744073709551552 bytes");
        ElfFile overflows = with(Section.SHT_NOTE, new byte[8], s -> s.offset = Long.MAX_VALUE);
        malformed(overflows::notes, "lies outside the file");
        // It points at the section header, which is what is wrong.
        assertThatThrownBy(() -> far.data(victim(far)))
                .isInstanceOfSatisfying(
                        MalformedDataException.class,
                        e -> assertThat(e.offset()).isEqualTo(far.header().sectionHeaderOffset() + 2 * 64));
    }

    @Test
    void sectionNames() {
        ElfBuilder builder = ElfBuilder.elf64();
        builder.section("a", Section.SHT_PROGBITS, new byte[0], s -> s.name = 4711);
        notElf(builder.build(), "needs 1 bytes here");
        byte[] image = ElfBuilder.elf64().build();
        // The last byte of the string table is the NUL of ".shstrtab", at the end of the contents.
        image[64 + "\0.shstrtab".length()] = 'x';
        notElf(image, "string without a terminating NUL");
    }

    @Test
    void symbolTables() {
        ElfFile zero = with(Section.SHT_SYMTAB, new byte[48], s -> s.entrySize = 0);
        malformed(zero::symbols, "symbol table with entries of 0 bytes, less than 24");
        ElfFile small = with(Section.SHT_SYMTAB, new byte[48], s -> s.entrySize = 23);
        malformed(() -> small.symbols("x"), "symbol table with entries of 23 bytes");
        ElfFile giant = with(Section.SHT_SYMTAB, new byte[48], s -> s.entrySize = -1);
        malformed(giant::symbols, "symbol table with entries of 18446744073709551615 bytes, less than 24");
        ElfFile ragged = with(Section.SHT_SYMTAB, new byte[49], s -> s.entrySize = 24);
        malformed(ragged::symbols, "not a multiple of its entry size 24");
        ElfFile self = with(Section.SHT_SYMTAB, new byte[48], s -> {
            s.entrySize = 24;
            s.link = 2;
        });
        malformed(self::symbols, "has its names in section 2, which is not a string table");
        ElfFile lost = with(Section.SHT_SYMTAB, new byte[48], s -> {
            s.entrySize = 24;
            s.link = 0xffffffffL;
        });
        malformed(lost::symbols, "refers to section 4294967295, but there are 4 sections");
        byte[] badName = new byte[24];
        badName[3] = 0x7f;
        ElfFile unnamed = with(Section.SHT_SYMTAB, badName, s -> s.entrySize = 24);
        malformed(() -> unnamed.symbols().toList(), "needs 1 bytes here");
        malformed(() -> unnamed.symbols("x"), "needs 1 bytes here");
    }

    @Test
    void relocationTables() {
        ElfFile zero = with(Section.SHT_REL, new byte[32], s -> s.entrySize = 0);
        malformed(() -> zero.relocations(victim(zero)), "entries of 0 bytes, less than 16");
        ElfFile rela = with(Section.SHT_RELA, new byte[32], s -> s.entrySize = 16);
        malformed(() -> rela.relocations(rela.section(1)), "entries of 16 bytes, less than 24");
        ElfFile ragged = with(Section.SHT_REL, new byte[33], s -> s.entrySize = 16);
        malformed(() -> ragged.relocations(victim(ragged)), "not a multiple of its entry size 16");
        byte[] hugeSymbol = new byte[16];
        hugeSymbol[15] = (byte) 0x80;
        ElfFile far = with(Section.SHT_REL, hugeSymbol, s -> s.entrySize = 16);
        malformed(() -> far.relocations(victim(far)), "relocation with symbol 2147483648");
    }

    private static ElfFile compressed(int algorithm, long size, byte[] stream) {
        byte[] data = SampleElf.compressed(ElfBuilder.elf64(), algorithm, size, stream);
        return with(Section.SHT_PROGBITS, data, s -> s.flags = Section.SHF_COMPRESSED);
    }

    private static void compressed(int algorithm, long size, byte[] stream, String problem) {
        ElfFile elf = compressed(algorithm, size, stream);
        malformed(() -> elf.data(victim(elf)), problem);
    }

    @Test
    void compression() {
        byte[] good = SampleElf.deflate(SampleElf.LONG_TEXT);
        int size = SampleElf.LONG_TEXT.length;
        compressed(2, size, good, "compressed by zstd, which can't be read without a native library");
        compressed(3, size, good, "unknown compression type 3");
        compressed(1, size, "rubbish".getBytes(StandardCharsets.US_ASCII), "isn't valid zlib data");
        compressed(1, size + 1, good, "expands to 4200 bytes, less than the 4201");
        compressed(1, 1L << 40, good, "more than zlib allows");
        compressed(1, -1, good, "to 18446744073709551615 bytes, more than zlib allows");
        compressed(1, size, new byte[0], "more than zlib allows");
        compressed(1, 5, new byte[0], "expands to 0 bytes");
        compressed(1, size, java.util.Arrays.copyOf(good, good.length - 8), "");
        ElfFile headless = with(Section.SHT_PROGBITS, new byte[4], s -> s.flags = Section.SHF_COMPRESSED);
        malformed(() -> headless.data(victim(headless)), "needs 8 bytes");
        // A stream that goes on after the claimed size is cut there.
        ElfFile longer = compressed(1, 3, good);
        assertThat(longer.data(victim(longer)).toByteArray()).asString().isEqualTo("all");
    }

    @Test
    void expansionIsLimited() {
        byte[] zeros = new byte[1 << 20];
        byte[] bomb = SampleElf.compressed(ElfBuilder.elf64(), 1, zeros.length, SampleElf.deflate(zeros));
        ElfBuilder builder = ElfBuilder.elf64();
        builder.section("victim", Section.SHT_PROGBITS, bomb, s -> s.flags = Section.SHF_COMPRESSED);
        builder.section(".gnu_debugdata", Section.SHT_PROGBITS, SampleElf.xz(zeros));
        byte[] image = builder.build();
        ElfFile loose = ElfFile.parse("x", image);
        assertThat(loose.data(victim(loose)).size()).isEqualTo(1 << 20);
        malformed(loose::miniDebugInfo, "expands to more than 64 times its");
        ElfFile strict = ElfFile.parse("x", image, new ElfLimits(1000, 1000, 1000, (1 << 20) - 1));
        malformed(() -> strict.data(victim(strict)), "but at most 1048575 are accepted; raise ElfLimits");
        byte[] noise = new byte[1 << 20];
        new Random(1).nextBytes(noise);
        ElfBuilder incompressible = ElfBuilder.elf64();
        incompressible.section(".gnu_debugdata", Section.SHT_PROGBITS, SampleElf.xz(noise));
        byte[] large = incompressible.build();
        malformed(ElfFile.parse("x", large)::miniDebugInfo, "not an ELF file");
        malformed(
                ElfFile.parse("x", large, new ElfLimits(1000, 1000, 1000, (1 << 20) - 1))::miniDebugInfo,
                "but at most 1048575 are accepted; raise ElfLimits");
    }

    /** Sections that share a compressed stream, and a stream that is long and expands to nothing. */
    @Test
    void expansionOfAllSectionsIsLimited() {
        byte[] zeros = new byte[1 << 20];
        ElfBuilder builder = ElfBuilder.elf64();
        byte[] bomb = SampleElf.compressed(builder, 1, zeros.length, SampleElf.deflate(zeros));
        builder.section("victim", Section.SHT_PROGBITS, bomb, s -> s.flags = Section.SHF_COMPRESSED);
        for (int i = 0; i < 20; i++) {
            builder.section("victim", Section.SHT_PROGBITS, new byte[0], s -> {
                s.flags = Section.SHF_COMPRESSED;
                s.offset = 64;
                s.size = bomb.length;
            });
        }
        ElfFile elf = ElfFile.parse("x", builder.build(), new ElfLimits(1000, 1000, 1000, 1 << 20));
        int expanded = 0;
        for (Section section : elf.sections().subList(1, 22)) {
            if (expanded == 3) {
                malformed(() -> elf.data(section), "more than 4 times the 1048576 bytes");
            } else {
                assertThat(elf.data(section).size()).isEqualTo(1 << 20);
                expanded++;
            }
        }

        ByteWriter empty = ElfBuilder.elf64().writer().raw(new byte[] {0x78, (byte) 0x9c});
        for (int i = 0; i < 100_000; i++) {
            empty.raw(new byte[] {0, 0, 0, -1, -1}); // a stored block of no bytes
        }
        ElfFile idle = ElfFile.parse("x", with(empty.toByteArray()), new ElfLimits(1000, 1000, 1000, 100_000));
        malformed(() -> idle.data(victim(idle)), "more than 4 times the 100000 bytes");
    }

    private static byte[] with(byte[] stream) {
        ElfBuilder builder = ElfBuilder.elf64();
        byte[] data = SampleElf.compressed(builder, 1, 1, stream);
        builder.section("victim", Section.SHT_PROGBITS, data, s -> s.flags = Section.SHF_COMPRESSED);
        return builder.build();
    }

    @Test
    void debugLinkAndDebugData() {
        for (String name : List.of("", "../../etc/passwd")) {
            ElfBuilder builder = ElfBuilder.elf64();
            builder.section(
                    ".gnu_debuglink",
                    Section.SHT_PROGBITS,
                    builder.writer().string(name).align(4).u32(1).toByteArray());
            ElfFile elf = ElfFile.parse("x", builder.build());
            malformed(elf::debugLink, "is not a plain file name");
        }
        ElfBuilder builder = ElfBuilder.elf64();
        builder.section(
                ".gnu_debuglink",
                Section.SHT_PROGBITS,
                builder.writer().string("a").toByteArray());
        builder.section(".gnu_debugdata", Section.SHT_PROGBITS, new byte[100]);
        ElfFile elf = ElfFile.parse("x", builder.build());
        malformed(elf::debugLink, "needs 4 bytes");
        malformed(elf::miniDebugInfo, ".gnu_debugdata isn't valid xz data");
    }

    @Test
    void segments() {
        ElfBuilder builder = ElfBuilder.elf64();
        int far = builder.section("far", Section.SHT_PROGBITS, new byte[0], s -> {
            s.offset = 1 << 20;
            s.size = 16;
        });
        int wrapping = builder.section("wrap", Section.SHT_PROGBITS, new byte[0], s -> {
            s.offset = Long.MAX_VALUE - 4;
            s.size = 16;
        });
        builder.segment(Segment.PT_NOTE, far, 0, 4).segment(Segment.PT_LOAD, wrapping, -16, 4096);
        ElfFile elf = ElfFile.parse("x", builder.build());
        malformed(elf::notes, "segment 0 of 16 bytes at 0x100000 lies outside the file");
        malformed(() -> elf.fileOffset(-8), "lies outside any file");
        assertThat(elf.fileOffset(-16)).hasValue(Long.MAX_VALUE - 4);
        assertThat(elf.fileOffset(0)).isEmpty();
    }

    /** Half a terabyte of names in a file of 25 MB, were it believed; here 1 MB of names times 1,000. */
    @Test
    void namesThatOverlap() {
        ElfBuilder builder = ElfBuilder.elf64();
        byte[] text = new byte[1 << 20];
        java.util.Arrays.fill(text, 0, text.length - 1, (byte) 'n');
        int strings = builder.section(".strtab", Section.SHT_STRTAB, text);
        ByteWriter table = builder.writer();
        for (int i = 0; i < 1000; i++) {
            builder.symbol(table, i, 0, 0, 0, 0, 0);
        }
        builder.section(".symtab", Section.SHT_SYMTAB, table.toByteArray(), s -> {
            s.link = strings;
            s.entrySize = 24;
        });
        ElfFile elf = ElfFile.parse("x", builder.build());
        // For what hangs: that it is refused is what is tested.
        Assertions.assertTimeoutPreemptively(Duration.ofMinutes(10), () -> {
            malformed(() -> elf.symbols("n"), "because they overlap");
            malformed(() -> elf.symbols().forEach(_ -> {}), "because they overlap");
        });
        ElfLimits strict = new ElfLimits(1000, 1000, 1000, 1000);
        ElfFile limited = ElfFile.parse("x", builder.build(), strict);
        malformed(() -> limited.symbols().toList(), "string of more than 1000 bytes");
    }

    /** Many sections over the same notes or relocations multiply them. */
    @Test
    void sectionsThatOverlap() {
        ElfBuilder builder = ElfBuilder.elf64();
        int first = builder.section(".note", Section.SHT_NOTE, new byte[12_000]);
        for (int i = 0; i < 200; i++) {
            builder.section(".note", Section.SHT_NOTE, new byte[0], s -> {
                s.offset = 64;
                s.size = 12_000;
            });
            builder.section(".rel", Section.SHT_REL, new byte[0], s -> {
                s.offset = 64;
                s.size = 12_000;
                s.entrySize = 16;
                s.info = first;
            });
        }
        ElfFile elf = ElfFile.parse("x", builder.build(), new ElfLimits(1000, 10_000, 1000, 0));
        malformed(elf::notes, "note sections overlap");
        malformed(() -> elf.relocations(elf.section(first)), "relocation tables overlap");
    }

    /** A million zero bytes are 87,381 notes without owner or contents, out of a kilobyte. */
    @Test
    void notesThatExpand() {
        byte[] zeros = new byte[1 << 20];
        ElfBuilder builder = ElfBuilder.elf64();
        byte[] bomb = SampleElf.compressed(builder, 1, zeros.length, SampleElf.deflate(zeros));
        builder.section("victim", Section.SHT_NOTE, bomb, s -> s.flags = Section.SHF_COMPRESSED);
        ElfFile elf = ElfFile.parse("x", builder.build());
        malformed(elf::notes, "larger than the file");
        malformed(() -> elf.notes(victim(elf)), "larger than the file");
    }

    @Test
    void symbolsNotesAndSegmentsAreLimited() {
        ElfBuilder builder = ElfBuilder.elf64();
        int strings = builder.section(".strtab", Section.SHT_STRTAB, new byte[1]);
        builder.section(".symtab", Section.SHT_SYMTAB, new byte[24 * 101], s -> {
            s.link = strings;
            s.entrySize = 24;
        });
        builder.section(".note", Section.SHT_NOTE, new byte[12 * 101]);
        ElfFile elf = ElfFile.parse("x", builder.build(), new ElfLimits(100, 100, 100, 0));
        malformed(elf::symbols, "101 symbols, more than the 100 accepted; raise ElfLimits");
        malformed(() -> elf.symbols("x"), "101 symbols, more than the 100");
        malformed(elf::notes, "more than the 100 notes");
        byte[] image = SampleElf.full(ElfBuilder.elf64());
        assertThat(ElfFile.parse("x", image).segments()).hasSizeGreaterThan(1);
        byte[] few = SampleElf.full(ElfBuilder.elf64().withoutSectionHeaders());
        malformed(() -> ElfFile.parse("x", few, new ElfLimits(100, 1, 100, 0)), "segments, more than the 1 accepted");
    }

    @Test
    void sectionsAreLimited() {
        byte[] image = SampleElf.full(ElfBuilder.elf64());
        malformed(() -> ElfFile.parse("x", image, new ElfLimits(100, 13, 100, 100)), "14 sections, more than the 13");
        assertThatThrownBy(() -> new ElfLimits(0, 1, 1, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThat(ElfFile.parse("x", image, new ElfLimits(100, 14, 100, 100))
                        .header()
                        .order())
                .isEqualTo(ByteOrder.LITTLE_ENDIAN);
    }
}
