package io.bpf4j.loader.internal.attach;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.Symbol;
import io.bpf4j.elf.SymbolVersions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The functions of a program or library, by name.
 *
 * <p>A file may have its symbols in several places, and a stripped one keeps few of them:
 *
 * <ol>
 *   <li>{@code .dynsym}: functions that other files link against; every shared library has it. Only this table has
 *       versions.
 *   <li>{@code .symtab}: all functions, also static ones; stripping removes it first.
 *   <li>{@code .gnu_debugdata}: a compressed ELF file with just the names that {@code .dynsym} lacks (Fedora).
 *   <li>a file of its own under /usr/lib/debug, found by build ID or debug link (Debian's -dbgsym packages).
 * </ol>
 *
 * The first two are always read, the others only if {@code .symtab} is missing: otherwise they add nothing. Addresses
 * in all four are those of the file itself.
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
     * @param indirect an IFUNC: the address is not of the function, but of the code that selects it
     */
    record Function(
            String name, Optional<String> version, boolean isDefault, boolean local, boolean indirect, long address) {
        /** Whether it matches {@code NAME}, {@code NAME@VERSION} or {@code NAME@@VERSION}. */
        boolean is(Wanted wanted) {
            return wanted.name().matches(name)
                    && (wanted.version().isEmpty() || wanted.version().equals(version))
                    && (!wanted.onlyDefault() || isDefault);
        }
    }

    /** The requested name: {@code memcpy}, {@code memcpy@GLIBC_2.2.5}, {@code memcpy@@GLIBC_2.14}, {@code mem*}. */
    record Wanted(NamePattern name, Optional<String> version, boolean onlyDefault) {
        static Wanted parse(String text) {
            // Not at the start: a name may begin with any character.
            int at = text.indexOf('@', 1);
            if (at < 0) {
                return new Wanted(new NamePattern(text), Optional.empty(), false);
            }
            boolean onlyDefault = text.startsWith("@@", at);
            String version = text.substring(onlyDefault ? at + 2 : at + 1);
            return new Wanted(new NamePattern(text.substring(0, at)), Optional.of(version), onlyDefault);
        }
    }

    /** All functions that a test accepts, from every place that has symbols; a function may occur several times. */
    static List<Function> find(ElfFile elf, DebugFiles debugFiles, Predicate<Function> test) {
        List<Function> found = new ArrayList<>();
        SymbolVersions versions = SymbolVersions.of(elf);
        add(elf.dynamicSymbols(), symbol -> versions.of(symbol), test, found);
        if (hasFullTable(elf)) {
            add(elf.symbols(), _ -> Optional.empty(), test, found);
            return found;
        }
        try (ElfFile mini = elf.miniDebugInfo().orElse(null)) {
            if (mini != null) {
                add(mini.symbols(), _ -> Optional.empty(), test, found);
            }
        }
        try (ElfFile debug = debugFiles.open(elf).orElse(null)) {
            if (debug != null && hasFullTable(debug)) {
                add(debug.symbols(), _ -> Optional.empty(), test, found);
            }
        }
        return found;
    }

    static boolean hasFullTable(ElfFile elf) {
        return elf.section(".symtab").isPresent();
    }

    private interface Versions {
        Optional<SymbolVersions.Version> of(Symbol symbol);
    }

    private static void add(Stream<Symbol> symbols, Versions versions, Predicate<Function> test, List<Function> found) {
        symbols.filter(s -> s.isInSection() && s.value() != 0)
                .filter(s -> s.type() == Symbol.STT_FUNC || s.type() == Symbol.STT_GNU_IFUNC)
                .map(s -> function(s, versions.of(s)))
                .filter(test)
                .forEach(found::add);
    }

    private static Function function(Symbol symbol, Optional<SymbolVersions.Version> version) {
        boolean indirect = symbol.type() == Symbol.STT_GNU_IFUNC;
        // The linker writes versions into the names of .symtab.
        int at = symbol.name().indexOf('@', 1);
        if (version.isEmpty() && at > 0) {
            boolean isDefault = symbol.name().startsWith("@@", at);
            return new Function(
                    symbol.name().substring(0, at),
                    Optional.of(symbol.name().substring(isDefault ? at + 2 : at + 1)),
                    isDefault,
                    symbol.isLocal(),
                    indirect,
                    symbol.value());
        }
        return new Function(
                symbol.name(),
                version.map(SymbolVersions.Version::name),
                version.map(SymbolVersions.Version::isDefault).orElse(true),
                symbol.isLocal(),
                indirect,
                symbol.value());
    }
}
