package io.bpf4j.elf;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.internal.symbol.SymbolVersions;
import io.bpf4j.test.fuzz.FuzzTarget;
import io.bpf4j.test.fuzz.Limits;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Any bytes are an ELF file or malformed: its tables, names, compressed sections, and the file within it. Symbols are
 * read in three ways, which must agree.
 */
class ElfFuzzTest extends FuzzTarget {
    private static final ElfLimits LIMITS = new ElfLimits(1 << 12, 1 << 12, 1 << 14, 1 << 20);
    private static final DebugFiles NO_DEBUG_FILES = new DebugFiles(Path.of("/nonexistent"));

    @Override
    protected List<byte[]> seeds() {
        return Stream.concat(
                        SampleElf.builders().stream().map(SampleElf::full),
                        Stream.of(
                                SampleElf.full(ElfBuilder.elf64().extendedNumbering()),
                                SampleElf.full(ElfBuilder.elf64().withoutSectionHeaders()),
                                SampleElf.inner(),
                                NoSectionHeadersTest.withGnuHash(ElfBuilder.elf64()),
                                NoSectionHeadersTest.image(
                                        ElfBuilder.elf64(),
                                        4,
                                        new byte[] {1, 0, 0, 0, 7, 0, 0, 0},
                                        ElfHeader.EM_X86_64),
                                SymbolVersionsTest.library()))
                .toList();
    }

    @Override
    protected List<String> words() {
        return List.of(".symtab", ".dynsym", ".note.gnu.build-id", ".gnu_debugdata", ".zdebug_", "ZLIB", "GNU", ".bss");
    }

    /** Sections may share one compressed stream, up to four times the limit; xz may take as much as {@code xz -9} does. */
    @Override
    protected Limits limits() {
        return Limits.USUAL.withBytes(80 << 20, 4_000).withSteps(5_000_000, 20_000);
    }

    @Override
    protected void read(byte[] input) {
        ElfFile elf;
        try {
            elf = ElfFile.parse("fuzzed", input, LIMITS);
        } catch (MalformedDataException e) {
            assertThat(e.source()).startsWith("fuzzed");
            return;
        }
        SampleElf.readAll(elf);
        ignoringMalformed(() -> symbolsAgree(elf));
        ignoringMalformed(() -> versions(elf));
        ignoringMalformed(() -> elf.miniDebugInfo().ifPresent(inner -> {
            assertThat(inner.source()).startsWith("fuzzed");
            SampleElf.readAll(inner);
        }));
        ignoringMalformed(() -> SymbolTables.read(
                elf, NO_DEBUG_FILES, (_, symbol) -> assertThat(symbol.name()).isNotNull()));
        for (Section section : elf.sections()) {
            ignoringMalformed(() -> assertThat(elf.data(section).size()).isNotNegative());
        }
    }

    private static void ignoringMalformed(Runnable reader) {
        try {
            reader.run();
        } catch (MalformedDataException e) {
            assertThat(e.source()).startsWith("fuzzed");
        }
    }

    private static void symbolsAgree(ElfFile elf) {
        List<Symbol> symbols = elf.symbols().toList();
        for (Symbol symbol : symbols.stream().limit(8).toList()) {
            if (!symbol.name().isEmpty()) {
                assertThat(elf.symbols(symbol.name()))
                        .isEqualTo(symbols.stream()
                                .filter(other -> other.name().equals(symbol.name()))
                                .toList());
            }
        }
        if (elf.dynamicTable().isEmpty() && SymbolTables.hasFullTable(elf)) {
            Functions functions = new Functions();
            SymbolTables.functions(elf, NO_DEBUG_FILES, functions);
            assertThat(functions.found)
                    .isEqualTo(symbols.stream()
                            .filter(symbol -> symbol.type() == Symbol.STT_FUNC || symbol.type() == Symbol.STT_GNU_IFUNC)
                            .filter(symbol -> symbol.sectionIndex() > 0 && symbol.value() != 0)
                            .map(symbol -> symbol.index() + " " + symbol.name() + " " + symbol.value())
                            .toList());
        }
    }

    /** Receives the functions of one table. */
    private static final class Functions implements SymbolTables.FunctionReader {
        final List<String> found = new ArrayList<>();
        private final List<long[]> read = new ArrayList<>();

        @Override
        public boolean wants(SymbolTables.Table table, long symbols) {
            return true;
        }

        @Override
        public boolean read(SymbolTables.Table table, long index, long address, long size, int binding) {
            read.add(new long[] {index, address});
            return true;
        }

        @Override
        public void finish(SymbolTables.Names names) {
            for (long[] each : read) {
                found.add(each[0] + " " + names.of(SymbolTables.Table.FULL, each[0]) + " " + each[1]);
            }
        }
    }

    private static void versions(ElfFile elf) {
        SymbolVersions versions = SymbolVersions.of(elf);
        for (int i = 0; i < 8; i++) {
            versions.of(new Symbol(i, "f", 1, 0, Symbol.STT_FUNC, Symbol.STB_GLOBAL, 0, 1))
                    .ifPresent(version -> assertThat(version.name()).isNotNull());
        }
    }

    @Override
    protected List<Growth> growths() {
        return List.of(
                new Growth(
                        "sections", count -> SampleElf.full(ElfBuilder.elf64().paddingSections(count))),
                new Growth("symbols of one name", count -> symbols(count, false)),
                new Growth("symbols with names of their own", count -> symbols(count, true)),
                new Growth("notes", ElfFuzzTest::notes),
                new Growth("relocation tables of one section", ElfFuzzTest::relocationTables));
    }

    private static byte[] symbols(int count, boolean named) {
        ElfBuilder elf = ElfBuilder.elf64();
        ByteWriter names = elf.writer().u8(0).string("name");
        ByteWriter table = elf.writer();
        elf.symbol(table, 0, 0, 0, 0, 0, 0);
        for (int i = 0; i < count; i++) {
            int name = named ? names.size() : 1;
            if (named) {
                names.string("symbol_" + (1_000_000 + i));
            }
            elf.symbol(table, name, i + 1, 1, Symbol.STT_FUNC, 0, 1);
        }
        int strings = elf.section(".strtab", Section.SHT_STRTAB, names.toByteArray());
        elf.section(".symtab", Section.SHT_SYMTAB, table.toByteArray(), s -> {
            s.link = strings;
            s.entrySize = elf.elfClass.symbolSize;
        });
        return elf.build();
    }

    private static byte[] notes(int count) {
        ElfBuilder elf = ElfBuilder.elf64();
        ByteWriter notes = elf.writer();
        for (int i = 0; i < count; i++) {
            notes.raw(elf.note("owner", i, new byte[] {1, 2, 3}, 4));
        }
        elf.section(".note.many", Section.SHT_NOTE, notes.toByteArray());
        return elf.build();
    }

    private static byte[] relocationTables(int count) {
        ElfBuilder elf = ElfBuilder.elf64();
        int text = elf.section(".text", Section.SHT_PROGBITS, new byte[8]);
        for (int i = 0; i < count; i++) {
            ByteWriter entries = elf.writer();
            elf.relocation(entries, 8, 0, 1);
            elf.section(".rel.text", Section.SHT_REL, entries.toByteArray(), s -> {
                s.info = text;
                s.entrySize = elf.elfClass.relSize;
            });
        }
        return elf.build();
    }
}
