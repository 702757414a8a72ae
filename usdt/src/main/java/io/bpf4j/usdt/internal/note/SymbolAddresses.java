package io.bpf4j.usdt.internal.note;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.Symbol;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Finds the addresses of a few symbols.
 *
 * <p>Tested by {@code StapsdtReaderTest}.
 */
public final class SymbolAddresses {
    private SymbolAddresses() {}

    /**
     * The virtual addresses of the symbols that have exactly one address. A name without a definition in the file, or a
     * name that several static variables share, is left out: a wrong address would give wrong values, silently.
     *
     * <p>One pass over each symbol table, which keeps only the requested symbols: tables may have millions of entries,
     * and most files need none of them.
     */
    public static Map<String, Long> find(ElfFile elf, Set<String> names) {
        Map<String, Long> found = new HashMap<>();
        Set<String> ambiguous = new HashSet<>();
        collect(elf.symbols(), names, found, ambiguous);
        collect(elf.dynamicSymbols(), names, found, ambiguous);
        found.keySet().removeAll(ambiguous);
        return found;
    }

    private static void collect(
            Stream<Symbol> symbols, Set<String> names, Map<String, Long> found, Set<String> ambiguous) {
        symbols.filter(s -> names.contains(s.name()) && hasAddress(s)).forEach(s -> {
            Long other = found.putIfAbsent(s.name(), s.value());
            if (other != null && other != s.value()) {
                ambiguous.add(s.name());
            }
        });
    }

    /**
     * The value of a thread-local symbol is not an address, and the value of an indirect function (ifunc) is the
     * address of its resolver.
     */
    private static boolean hasAddress(Symbol symbol) {
        return symbol.isInSection()
                && switch (symbol.type()) {
                    case Symbol.STT_NOTYPE, Symbol.STT_OBJECT, Symbol.STT_FUNC -> true;
                    default -> false;
                };
    }
}
