package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.CXXFILT;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.SymbolTables;
import io.bpf4j.test.support.ChildJvm;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Requires;
import io.bpf4j.trace.internal.demangle.Demangler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** All symbols of large libraries of C++, compared with those of c++filt: libjvm and, where it is installed, libstdc++. */
@Requires(CXXFILT)
@Timeout(1200) // for what hangs: names of all of libjvm take seconds on an idle machine
class DemanglerOnLibrariesTest {
    @TempDir
    Path folder;

    @Test
    void allNamesAreThoseOfCxxfilt() throws IOException, InterruptedException {
        compare(List.of("c++filt"), Demangler::demangle);
    }

    @Test
    void allNamesWithoutParametersAreThoseOfCxxfilt() throws IOException, InterruptedException {
        compare(List.of("c++filt", "-p"), Demangler::withoutParameters);
    }

    private void compare(List<String> command, UnaryOperator<String> demangler)
            throws IOException, InterruptedException {
        SortedSet<String> symbols = new TreeSet<>();
        addSymbols(ChildJvm.libjvm(), symbols);
        try (Stream<Path> found = Stream.of("/usr/lib", "/usr/lib64", "/usr/lib/" + triplet())
                .map(place -> Path.of(place, "libstdc++.so.6"))
                .filter(Files::exists)) {
            for (Path library : found.toList()) {
                addSymbols(library, symbols);
            }
        }
        assertThat(symbols).hasSizeGreaterThan(1000);
        Path input = Files.write(folder.resolve("symbols"), symbols);
        ProcessBuilder builder = new ProcessBuilder(command).redirectInput(input.toFile());
        List<String> expected = Commands.run(builder).out().lines().toList();
        assertThat(expected).hasSameSizeAs(symbols);
        List<String> different = new ArrayList<>();
        int at = 0;
        for (String symbol : symbols) {
            String theirs = expected.get(at++);
            String ours = demangler.apply(symbol);
            // A name that c++filt can't read is not compared. c++filt writes a blank between two closing brackets, but
            // not
            // after an empty pack.
            if (!theirs.equals(symbol) && !packed(theirs).equals(packed(ours))) {
                different.add(symbol + "\n  c++filt: " + theirs + "\n  here:    " + ours);
            }
        }
        assertThat(different).isEmpty();
    }

    private static String packed(String name) {
        return name.replace("> >", ">>").replace("> >", ">>");
    }

    private static String triplet() {
        return System.getProperty("os.arch").replace("amd64", "x86_64") + "-linux-gnu";
    }

    private static void addSymbols(Path library, SortedSet<String> symbols) throws IOException {
        try (ElfFile elf = ElfFile.open(library)) {
            SymbolTables.read(elf, DebugFiles.standard(), (_, symbol) -> {
                String name = symbol.name();
                int version = name.indexOf('@');
                if (name.startsWith("_Z")) {
                    symbols.add(version < 0 ? name : name.substring(0, version));
                }
            });
        }
    }
}
