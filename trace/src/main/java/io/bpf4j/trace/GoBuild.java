package io.bpf4j.trace;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.Section;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The Go compiler that built a file, from the section {@code .go.buildinfo} (src/debug/buildinfo of Go's sources).
 * <i>Immutable.</i>
 *
 * <pre>
 *  0  ff 20 "Go buildinf:"
 * 14  size of a pointer
 * 15  flags; 2: the version follows in the section, since Go 1.18
 * 32  length of the version, a varint of 7 bits a byte
 *     "go1.22.5"
 * </pre>
 *
 * <p>Since Go 1.17 functions take their arguments in registers, which on x86-64 differ from those of C (Go's
 * src/cmd/compile/abi-internal.md). A function written in assembler takes them on the stack; its symbol ends with
 * {@code .abi0} if the compiler also made a variant that takes registers.
 *
 * <p>Tested by {@code GoBuildTest} and {@code CliGoFunctionsTest}.
 *
 * @param version such as {@code go1.22.5}; empty if the section does not contain it
 */
record GoBuild(Optional<String> version) {
    private static final String SECTION = ".go.buildinfo";
    private static final byte[] MAGIC = "\u00ff Go buildinf:".getBytes(StandardCharsets.ISO_8859_1);
    private static final int FLAGS = 15;
    private static final int INLINE = 2;
    private static final int VERSION = 32;

    /** The endings that a C compiler adds to the names of functions that it changes. */
    private static final Pattern OF_C =
            Pattern.compile("[^./]+(\\.(constprop|isra|part|cold|lto_priv|llvm)(\\.\\d+)?)+");

    /** Reads the section; empty if Go did not build the file. */
    static Optional<GoBuild> of(ElfFile elf) {
        return elf.section(SECTION).map(section -> new GoBuild(version(elf, section)));
    }

    private static Optional<String> version(ElfFile elf, Section section) {
        if (section.size() < VERSION + 1L) {
            return Optional.empty();
        }
        byte[] bytes = elf.data(section)
                .slice(0, Math.min(section.size(), VERSION + 128L))
                .toByteArray();
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        int length = bytes[VERSION];
        boolean isInline = text.startsWith(new String(MAGIC, StandardCharsets.ISO_8859_1))
                && (bytes[FLAGS] & INLINE) != 0
                && length > 0
                && VERSION + 1 + length <= bytes.length;
        return isInline ? Optional.of(text.substring(VERSION + 1, VERSION + 1 + length)) : Optional.empty();
    }

    /** Whether a symbol names a Go function. Such names contain the package's path: {@code main.f}. */
    boolean isGoFunction(String symbol) {
        return symbol.contains(".") && !OF_C.matcher(symbol).matches();
    }

    /** Whether a Go function takes its arguments in registers; false if unknown. */
    boolean takesRegisters(String symbol) {
        Matcher numbers = Pattern.compile("(?:go|devel go)1\\.(\\d{1,4}).*").matcher(version.orElse(""));
        return numbers.matches() && Integer.parseInt(numbers.group(1)) >= 17 && !symbol.endsWith(".abi0");
    }
}
