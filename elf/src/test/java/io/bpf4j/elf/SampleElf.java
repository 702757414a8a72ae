package io.bpf4j.elf;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.Deflater;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

/** Small images that hold one of everything the reader knows, in both classes and byte orders. */
final class SampleElf {
    static final byte[] BUILD_ID = {(byte) 0xab, (byte) 0xcd, (byte) 0xef, 1, 2, 3, 4, 5};
    static final byte[] LONG_TEXT = "all work and no play ".repeat(200).getBytes(StandardCharsets.US_ASCII);
    static final long TEXT_ADDRESS = 0x401000;

    private SampleElf() {}

    static List<ElfBuilder> builders() {
        List<ElfBuilder> builders = new ArrayList<>();
        for (ElfClass elfClass : ElfClass.values()) {
            for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
                builders.add(new ElfBuilder(elfClass, order));
            }
        }
        return builders;
    }

    /** Names: 1 {@code local}, 7 {@code hidden_fn}, 17 {@code object}, 24 {@code dup}. */
    static byte[] strings(ElfBuilder elf) {
        return elf.writer()
                .u8(0)
                .string("local")
                .string("hidden_fn")
                .string("object")
                .string("dup")
                .toByteArray();
    }

    static byte[] symbols(ElfBuilder elf, int text) {
        ByteWriter table = elf.writer();
        elf.symbol(table, 0, 0, 0, 0, 0, 0);
        elf.symbol(table, 0, 0, 0, Symbol.STT_SECTION, 0, text);
        elf.symbol(table, 1, 4, 8, Symbol.STT_NOTYPE, 0, text);
        elf.symbol(table, 7, 8, 16, Symbol.STB_WEAK << 4 | Symbol.STT_FUNC, Symbol.STV_HIDDEN, text);
        elf.symbol(table, 17, 0xfffffff0L, 4, Symbol.STB_GLOBAL << 4 | Symbol.STT_OBJECT, 0, 0xfff1);
        elf.symbol(table, 24, 1, 0, Symbol.STB_GLOBAL << 4, 0, 0);
        elf.symbol(table, 24, 2, 0, Symbol.STB_LOCAL << 4 | Symbol.STT_FUNC, 0, 0xfff2);
        return table.toByteArray();
    }

    /** Everything at once, sections and segments. */
    static byte[] full(ElfBuilder elf) {
        elf.type(ElfHeader.ET_REL).machine(ElfHeader.EM_BPF);
        int text = elf.section(".text", Section.SHT_PROGBITS, new byte[64], s -> {
            s.flags = Section.SHF_ALLOC | Section.SHF_EXECINSTR;
            s.address = TEXT_ADDRESS;
            s.alignment = 16;
        });
        int strings = elf.section(".strtab", Section.SHT_STRTAB, strings(elf));
        int symbols = elf.section(".symtab", Section.SHT_SYMTAB, symbols(elf, text), s -> {
            s.link = strings;
            s.info = 3;
            s.entrySize = elf.elfClass.symbolSize;
        });
        ByteWriter rel = elf.writer();
        elf.relocation(rel, 8, 3, 1);
        elf.relocation(rel, 16, 4, 10);
        elf.section(".rel.text", Section.SHT_REL, rel.toByteArray(), s -> {
            s.link = symbols;
            s.info = text;
            s.entrySize = elf.elfClass.relSize;
        });
        ByteWriter rela = elf.writer();
        elf.relocation(rela, 24, 2, 2);
        rela.word(-4);
        elf.section(".rela.text", Section.SHT_RELA, rela.toByteArray(), s -> {
            s.link = symbols;
            s.info = text;
            s.flags = Section.SHF_INFO_LINK;
            s.entrySize = (long) elf.elfClass.relSize + elf.elfClass.addressSize();
        });
        int note = elf.section(
                ".note.gnu.build-id", Section.SHT_NOTE, elf.note("GNU", Note.NT_GNU_BUILD_ID, BUILD_ID, 4), s -> {
                    s.alignment = 4;
                });
        elf.section(".note.wide", Section.SHT_NOTE, elf.note("five5", 5, new byte[] {1, 2, 3}, 8), s -> {
            s.alignment = 8;
        });
        elf.section(".bss", Section.SHT_NOBITS, new byte[0], s -> s.size = 1L << 30);
        elf.section(".debug_str", Section.SHT_PROGBITS, compressed(elf, 1, LONG_TEXT.length, deflate(LONG_TEXT)), s -> {
            s.flags = Section.SHF_COMPRESSED;
        });
        ByteWriter zdebug = new ByteWriter(elf.elfClass, ByteOrder.BIG_ENDIAN);
        zdebug.raw("ZLIB".getBytes(StandardCharsets.US_ASCII))
                .u64(LONG_TEXT.length)
                .raw(deflate(LONG_TEXT));
        elf.section(".zdebug_line", Section.SHT_PROGBITS, zdebug.toByteArray());
        elf.section(
                ".gnu_debuglink",
                Section.SHT_PROGBITS,
                elf.writer().string("sample.debug").align(4).u32(0xdeadbeefL).toByteArray());
        byte[] inner = inner();
        elf.section(".gnu_debugdata", Section.SHT_PROGBITS, xz(inner));
        elf.segment(Segment.PT_LOAD, text, TEXT_ADDRESS, 4096);
        elf.segment(Segment.PT_NOTE, note, 0, 4);
        return elf.build();
    }

    /** What {@code .gnu_debugdata} of the full sample holds. */
    static byte[] inner() {
        ElfBuilder elf = ElfBuilder.elf64();
        int strings = elf.section(".strtab", Section.SHT_STRTAB, strings(elf));
        elf.section(".symtab", Section.SHT_SYMTAB, symbols(elf, 0), s -> {
            s.link = strings;
            s.entrySize = elf.elfClass.symbolSize;
        });
        return elf.build();
    }

    static byte[] compressed(ElfBuilder elf, int algorithm, long size, byte[] stream) {
        ByteWriter data = elf.writer().u32(algorithm);
        if (elf.elfClass == ElfClass.ELF64) {
            data.u32(0);
        }
        return data.word(size).word(1).raw(stream).toByteArray();
    }

    static byte[] deflate(byte[] data) {
        Deflater deflater = new Deflater();
        deflater.setInput(data);
        deflater.finish();
        byte[] buffer = new byte[data.length + 64];
        int length = deflater.deflate(buffer);
        deflater.end();
        return java.util.Arrays.copyOf(buffer, length);
    }

    static byte[] xz(byte[] data) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            LZMA2Options options = new LZMA2Options(0);
            // Each reader makes room for the whole dictionary, and tests read thousands of damaged copies.
            options.setDictSize(LZMA2Options.DICT_SIZE_MIN);
            try (XZOutputStream out = new XZOutputStream(bytes, options)) {
                out.write(data);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** Calls every method of the reader: for tests that feed it damaged bytes. */
    static void readAll(ElfFile elf) {
        List<Runnable> readers = new ArrayList<>();
        readers.add(elf::header);
        readers.add(elf::notes);
        readers.add(elf::buildId);
        readers.add(elf::debugLink);
        readers.add(elf::miniDebugInfo);
        readers.add(() -> elf.symbols().forEach(symbol -> {
            if (symbol.isInSection()) {
                elf.section(symbol.sectionIndex());
            }
        }));
        readers.add(() -> elf.dynamicSymbols().forEach(_ -> {}));
        readers.add(() -> elf.symbols("hidden_fn"));
        for (Section section : elf.sections()) {
            readers.add(() -> elf.data(section));
            readers.add(() -> elf.notes(section));
            readers.add(() -> elf.relocations(section));
        }
        for (Segment segment : elf.segments()) {
            readers.add(() -> elf.data(segment));
            readers.add(() -> elf.fileOffset(segment.virtualAddress()));
        }
        // Each on its own: one that fails must not hide the next.
        for (Runnable reader : readers) {
            try {
                reader.run();
            } catch (MalformedDataException expected) {
                // that is the one exception allowed; any other fails the test
            }
        }
    }
}
