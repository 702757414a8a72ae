package io.bpf4j.loader.internal.attach;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.Symbol;
import io.bpf4j.elf.SymbolTables;
import io.bpf4j.elf.internal.symbol.SymbolVersions;
import io.bpf4j.loader.internal.glob.Glob;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The functions of a program or library, by name, from all {@link SymbolTables}.
 *
 * <p>Tested by {@code FunctionSitesTest} and {@code FunctionsOnKernelTest}.
 */
final class FunctionSymbols {
    private FunctionSymbols() {}

    /**
     * One definition of a function.
     *
     * @param address virtual address in the file
     * @param isDefault whether it is the default version, which new programs link against; true without versions
     * @param indirect an IFUNC: the address is that of the code that selects the function
     */
    record Function(
            String name, Optional<String> version, boolean isDefault, boolean local, boolean indirect, long address) {
        /** Whether it matches {@code NAME}, {@code NAME@VERSION} or {@code NAME@@VERSION}. */
        boolean is(VersionedName wanted) {
            return wanted.name().matches(name)
                    && (wanted.version().isEmpty() || wanted.version().equals(version))
                    && (!wanted.isDefault() || isDefault);
        }
    }

    /**
     * The name of a symbol or of a requested function: {@code memcpy}, {@code memcpy@GLIBC_2.2.5}, {@code
     * memcpy@@GLIBC_2.14}, {@code mem*}.
     *
     * @param isDefault whether it has two signs, which stand for the default version
     */
    record VersionedName(String text, Glob name, Optional<String> version, boolean isDefault) {
        static VersionedName parse(String text) {
            // Not at the start: a name may begin with any character.
            int at = text.indexOf('@', 1);
            if (at < 0) {
                return new VersionedName(text, Glob.ofLibbpf(text), Optional.empty(), false);
            }
            boolean isDefault = text.startsWith("@@", at);
            String version = text.substring(isDefault ? at + 2 : at + 1);
            return new VersionedName(text, Glob.ofLibbpf(text.substring(0, at)), Optional.of(version), isDefault);
        }
    }

    /** All functions that a test accepts, from every table of symbols; a function may occur several times. */
    static List<Function> find(ElfFile elf, DebugFiles debugFiles, Predicate<Function> test) {
        List<Function> found = new ArrayList<>();
        SymbolVersions versions = SymbolVersions.of(elf);
        SymbolTables.read(elf, debugFiles, (table, symbol) -> {
            if (isFunction(symbol)) {
                Function function =
                        function(symbol, table == SymbolTables.Table.DYNAMIC ? versions.of(symbol) : Optional.empty());
                if (test.test(function)) {
                    found.add(function);
                }
            }
        });
        return found;
    }

    private static boolean isFunction(Symbol symbol) {
        return symbol.isInSection()
                && symbol.value() != 0
                && (symbol.type() == Symbol.STT_FUNC || symbol.type() == Symbol.STT_GNU_IFUNC);
    }

    /** Without an entry in the table of versions, the name may have one: the linker writes them into .symtab. */
    private static Function function(Symbol symbol, Optional<SymbolVersions.Version> version) {
        String text = symbol.name();
        VersionedName name = version.map(
                        v -> new VersionedName(text, Glob.ofLibbpf(text), Optional.of(v.name()), v.isDefault()))
                .orElseGet(() -> VersionedName.parse(text));
        return new Function(
                name.name().text(),
                name.version(),
                name.version().isEmpty() || name.isDefault(),
                symbol.isLocal(),
                symbol.type() == Symbol.STT_GNU_IFUNC,
                symbol.value());
    }
}
