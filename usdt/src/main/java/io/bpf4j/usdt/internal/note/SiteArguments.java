package io.bpf4j.usdt.internal.note;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtArg;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A parsed argument string of a file. Sites with the same text share it, because a hostile file may have a million
 * sites with ten thousand arguments each. <i>Immutable.</i>
 *
 * <p>Tested by {@code StapsdtReaderTest}.
 *
 * @param symbols virtual addresses of the symbols that the arguments name and that the file has
 */
public record SiteArguments(String text, List<UsdtArg> args, Map<String, Long> symbols) {

    /**
     * Parses the argument strings of a file. If a symbol table is broken, only the arguments that name symbols can't be
     * read.
     *
     * @param problems receives one if symbols are missing
     */
    static SiteArguments[] read(ElfFile elf, Machine machine, Collection<String> texts, List<Diagnostic> problems) {
        SiteArguments[] all = new SiteArguments[texts.size()];
        Set<String> names = new HashSet<>();
        int count = 0;
        for (String text : texts) {
            SiteArguments arguments = new SiteArguments(text, UsdtArg.parse(machine, text), Map.of());
            names.addAll(arguments.names());
            all[count++] = arguments;
        }
        if (names.isEmpty()) {
            return all;
        }
        Map<String, Long> symbols = symbols(elf, names, problems);
        if (elf.section(".symtab").isEmpty()) {
            names.stream()
                    .filter(symbol -> !symbols.containsKey(symbol))
                    .sorted()
                    .findFirst()
                    .ifPresent(symbol -> problems.add(unreadable(
                            elf,
                            "the file is stripped: arguments that name a removed symbol, such as '" + symbol
                                    + "', can't be read")));
        }
        for (int i = 0; i < all.length; i++) {
            all[i] = all[i].withSymbols(symbols);
        }
        return all;
    }

    private static Map<String, Long> symbols(ElfFile elf, Set<String> names, List<Diagnostic> problems) {
        try {
            return SymbolAddresses.find(elf, names);
        } catch (MalformedDataException e) {
            problems.add(
                    unreadable(elf, "symbols, and the arguments that name them, can't be read: " + e.getMessage()));
            return Map.of();
        }
    }

    private static Diagnostic unreadable(ElfFile elf, String why) {
        return new Diagnostic(Diagnostic.Kind.UNREADABLE, elf.source(), elf.source() + ": " + why);
    }

    private List<String> names() {
        List<String> names = new ArrayList<>();
        for (UsdtArg arg : args) {
            if (arg.operand() instanceof UsdtArg.Memory memory) {
                memory.symbol().ifPresent(names::add);
            }
        }
        return names;
    }

    private SiteArguments withSymbols(Map<String, Long> ofFile) {
        if (ofFile.isEmpty()) {
            return this;
        }
        Map<String, Long> named = new HashMap<>();
        for (String name : names()) {
            Long address = ofFile.get(name);
            if (address != null) {
                named.put(name, address);
            }
        }
        return new SiteArguments(text, args, Map.copyOf(named));
    }
}
