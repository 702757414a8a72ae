package io.bpf4j.loader.internal.attach;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.Symbol;
import io.bpf4j.elf.SymbolPlaces;
import io.bpf4j.elf.SymbolVersions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The functions of a program or library, by name, from all {@link SymbolPlaces}.
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
        SymbolPlaces.read(elf, debugFiles, (place, symbol) -> {
            if (isFunction(symbol)) {
                Function function =
                        function(symbol, place == SymbolPlaces.Place.DYNAMIC ? versions.of(symbol) : Optional.empty());
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
