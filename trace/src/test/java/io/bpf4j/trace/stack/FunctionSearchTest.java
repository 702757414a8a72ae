package io.bpf4j.trace.stack;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.SymbolTables.Table;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class FunctionSearchTest {
    @Test
    void theInnermostFunctionIsFound() {
        FunctionSearch search = new FunctionSearch(new long[] {0x105, 0x115, 0x130, 0x1ff, 0x300}, new SymbolBudget());
        search.read(Table.FULL, 0, 0x100, 0x100, 0);
        search.read(Table.FULL, 1, 0x110, 0x10, 0);
        search.read(Table.DYNAMIC, 2, 0x100, 0x100, 1);
        search.finish((table, index) -> table + " " + index);
        assertThat(search.results().get(0x105L)).isEqualTo(found(0x100, "DYNAMIC 2", Frame.Source.DYNAMIC_SYMBOLS));
        assertThat(search.results().get(0x115L)).isEqualTo(found(0x110, "FULL 1", Frame.Source.SYMBOLS));
        assertThat(search.results().get(0x130L))
                .isNotNull()
                .extracting(FunctionSearch.Found::symbol)
                .isEqualTo("DYNAMIC 2");
        assertThat(search.results().get(0x1ffL))
                .isNotNull()
                .extracting(FunctionSearch.Found::symbol)
                .isEqualTo("DYNAMIC 2");
        assertThat(search.results()).doesNotContainKey(0x300L);
    }

    @Test
    void aFunctionWithoutASizeEndsAtTheNext() {
        FunctionSearch search = new FunctionSearch(new long[] {0x150, 0x205, 0x250}, new SymbolBudget());
        search.read(Table.FULL, 0, 0x100, 0, 1);
        search.read(Table.FULL, 1, 0x200, 0x10, 1);
        search.finish((table, index) -> "f" + index);
        assertThat(search.results().get(0x150L))
                .isNotNull()
                .extracting(FunctionSearch.Found::symbol)
                .isEqualTo("f0");
        assertThat(search.results().get(0x205L))
                .isNotNull()
                .extracting(FunctionSearch.Found::symbol)
                .isEqualTo("f1");
        assertThat(search.results()).doesNotContainKey(0x250L);
    }

    @Test
    void withoutAllSymbolsNothingIsFound() {
        FunctionSearch search = new FunctionSearch(new long[] {0x150}, new SymbolBudget(10));
        assertThat(search.wants(Table.DYNAMIC, 6)).isTrue();
        search.read(Table.DYNAMIC, 0, 0x100, 0x100, 1);
        assertThat(search.wants(Table.FULL, 6)).isFalse();
        search.finish((table, index) -> "f" + index);
        assertThat(search.isComplete()).isFalse();
        assertThat(search.results()).isEmpty();
    }

    /** The same as in a table of all functions. */
    @Test
    void itFindsWhatATableFinds() {
        Random random = new Random(Long.getLong("bpf4j.test.seed", 5));
        for (int round = 0; round < 500; round++) {
            int count = 1 + random.nextInt(60);
            AddressTable.Builder all = new AddressTable.Builder(1 << 20);
            long[] addresses = random.longs(20, 0x1000, 0x1400).toArray();
            FunctionSearch search = new FunctionSearch(addresses, new SymbolBudget());
            long outer = 0x1000;
            Set<Long> starts = new HashSet<>();
            for (int i = 0; i < count; i++) {
                // Nested less deep than is kept, as in real files: a sized function now and then, and parts in it.
                boolean part = random.nextInt(3) == 0;
                long start = part ? outer + random.nextInt(8) : outer + 8 + random.nextInt(40);
                long size = part ? random.nextInt(4) : random.nextInt(3) * 10L;
                outer = part ? outer : start;
                if (!starts.add(start)) {
                    continue; // of two sizes for one start, a table forgets one
                }
                all.add(
                        start,
                        size,
                        ("f" + i).getBytes(StandardCharsets.UTF_8),
                        SymbolRank.of(Table.FULL, size, i % 3));
                search.read(Table.FULL, i, start, size, i % 3);
            }
            search.finish((table, index) -> "f" + index);
            AddressTable table = all.build();
            for (long address : addresses) {
                int at = table.find(address);
                FunctionSearch.Found found = search.results().get(address);
                assertThat(found == null ? "" : found.symbol()).isEqualTo(at < 0 ? "" : table.name(at));
            }
        }
    }

    private static FunctionSearch.Found found(long start, String symbol, Frame.Source source) {
        return new FunctionSearch.Found(start, symbol, source);
    }
}
