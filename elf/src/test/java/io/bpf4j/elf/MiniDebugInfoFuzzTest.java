package io.bpf4j.elf;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.fuzz.FuzzTarget;
import io.bpf4j.test.fuzz.Limits;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Any bytes in {@code .gnu_debugdata} are symbols or malformed. The first byte of an input says whether the others are
 * the section, or the file in it before it is compressed.
 */
class MiniDebugInfoFuzzTest extends FuzzTarget {
    private static final ElfLimits LIMITS = new ElfLimits(1 << 12, 1 << 12, 1 << 14, 1 << 20);

    @Override
    protected List<byte[]> seeds() {
        return List.of(
                input(0, SampleElf.xz(SampleElf.inner())),
                input(0, SampleElf.xz(new byte[1 << 12])),
                input(1, SampleElf.inner()));
    }

    private static byte[] input(int kind, byte[] bytes) {
        byte[] input = new byte[bytes.length + 1];
        input[0] = (byte) kind;
        System.arraycopy(bytes, 0, input, 1, bytes.length);
        return input;
    }

    /** xz may take as much as {@code xz -9} does, and the test compresses. */
    @Override
    protected Limits limits() {
        return Limits.USUAL.withExecutions(200).withBytes(80 << 20, 2_000).withSteps(10_000_000, 20_000);
    }

    @Override
    protected void read(byte[] input) {
        byte[] bytes = input.length == 0 ? input : Arrays.copyOfRange(input, 1, input.length);
        boolean inner = input.length > 0 && input[0] != 0;
        ElfBuilder builder = ElfBuilder.elf64();
        builder.section(".gnu_debugdata", Section.SHT_PROGBITS, inner ? SampleElf.xz(bytes) : bytes);
        ElfFile elf = ElfFile.parse("fuzzed", builder.build(), LIMITS);
        try {
            List<String> symbols = new ArrayList<>();
            SymbolTables.read(elf, new DebugFiles(Path.of("/nonexistent")), (table, symbol) -> {
                assertThat(table).isEqualTo(SymbolTables.Table.MINI_DEBUG_INFO);
                symbols.add(symbol.name());
            });
            ElfFile found = elf.miniDebugInfo().orElseThrow();
            if (inner) {
                // What is compressed and read is what was compressed.
                assertThat(found.bytes().toByteArray()).isEqualTo(bytes);
                assertThat(ElfFile.parse("plain", bytes, LIMITS).symbols().map(Symbol::name))
                        .isEqualTo(symbols);
            }
        } catch (MalformedDataException e) {
            assertThat(e.source()).startsWith("fuzzed");
        }
    }

    @Override
    protected List<Growth> growths() {
        return List.of(new Growth(
                "bytes that are compressed well", count -> input(0, SampleElf.xz(new byte[64 * count]))));
    }
}
