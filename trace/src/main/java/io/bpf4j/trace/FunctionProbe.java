package io.bpf4j.trace;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.Symbol;
import io.bpf4j.usdt.ProbePattern;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The entry or the return of a function in a file. At the entry {@code arg0} to {@code arg5} are the registers in which
 * the machine passes integers and pointers, unsigned; on s390x there are five. At the return {@code retval} is the
 * result. <i>Immutable.</i>
 *
 * <p>Needs BPF cookies (Linux 5.15). Functions that are inlined don't exist at run time.
 */
public sealed interface FunctionProbe {
    /** The start of a function, by its symbol. */
    static FunctionProbe entry(Path file, String function) {
        return new FunctionProbeData(file, function, false);
    }

    /** The return of a function. */
    static FunctionProbe exit(Path file, String function) {
        return new FunctionProbeData(file, function, true);
    }

    /**
     * The functions of a file whose names match a pattern: {@code *} matches any text, {@code ?} any character. Empty if
     * there are none. Separate debug files are not searched.
     *
     * @param returns whether their returns are meant
     * @throws IOException if the file can't be read
     * @throws io.bpf4j.elf.MalformedDataException if it is no ELF file, or its symbol tables are broken
     */
    static List<FunctionProbe> matching(Path file, String pattern, boolean returns) throws IOException {
        ProbePattern wanted = new ProbePattern("*", pattern);
        try (ElfFile elf = ElfFile.open(file)) {
            return Stream.concat(elf.symbols(), elf.dynamicSymbols())
                    .filter(symbol -> symbol.isFunction() && symbol.isInSection())
                    .map(Symbol::name)
                    .filter(name -> wanted.matches("", name))
                    .distinct()
                    .<FunctionProbe>map(name -> new FunctionProbeData(file, name, returns))
                    .toList();
        }
    }

    Path file();

    String function();

    /** Whether it fires when the function returns. */
    boolean returns();

    /** {@code u} for an entry, {@code ur} for a return, in the place of a USDT probe's provider. */
    default String provider() {
        return returns() ? "ur" : "u";
    }

    /** {@code u:malloc} or {@code ur:malloc}. */
    default String fullName() {
        return provider() + ":" + function();
    }
}

/** The one implementation of {@link FunctionProbe}. */
record FunctionProbeData(Path file, String function, boolean returns) implements FunctionProbe {
    @Override
    public String toString() {
        return fullName() + " in " + file;
    }
}
