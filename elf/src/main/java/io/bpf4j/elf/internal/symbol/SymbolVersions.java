package io.bpf4j.elf.internal.symbol;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The versions of the functions and variables that a shared library defines, according to GNU symbol versioning: one
 * name may be defined several times, and each program keeps using the definition that it was linked against.
 * <i>Immutable</i>, and valid while the file is open.
 *
 * <pre>
 *   memcpy@@GLIBC_2.14    the default for programs that are linked today
 *   memcpy@GLIBC_2.2.5    hidden: only for programs that were linked long ago
 * </pre>
 *
 * <p>Two sections store the versions ("Symbol Versioning" in the Linux Standard Base, Core Specification). {@code
 * .gnu.version} has 16 bits for each dynamic symbol: the number of a version, and in the highest bit whether it is
 * hidden. {@code .gnu.version_d} names the numbers: a list of records of 20 bytes, each with a list of names; the first
 * is the name of the version. Numbers 0 (local) and 1 (no version) have no name.
 */
public final class SymbolVersions {
    /** Numbers from glibc's elf.h. */
    private static final int SHT_GNU_VERDEF = 0x6ffffffd;

    private static final int SHT_GNU_VERSYM = 0x6fffffff;

    private static final int HIDDEN = 0x8000;

    private static final long DEFINITION_NUMBER = 4;
    private static final long DEFINITION_NAMES = 12;
    private static final long DEFINITION_NEXT = 16;

    /** At most 2^15 versions can exist; a longer list is circular. */
    private static final int MAX_VERSIONS = 1 << 15;

    private static final int MAX_NAME_BYTES = 1024;

    private final Map<Integer, String> names;

    /** Empty if the file has no versions. */
    private final Optional<ByteView> numbers;

    private SymbolVersions(Map<Integer, String> names, Optional<ByteView> numbers) {
        this.names = names;
        this.numbers = numbers;
    }

    /**
     * The version of a symbol.
     *
     * @param name such as {@code GLIBC_2.14}
     * @param isDefault whether programs that are linked without naming a version get this version
     */
    public record Version(String name, boolean isDefault) {}

    /**
     * Reads the versions of a file's dynamic symbols; empty if the file has none.
     *
     * @throws MalformedDataException if their sections are malformed
     */
    public static SymbolVersions of(ElfFile elf) {
        Optional<Section> symbols = ofType(elf, SHT_GNU_VERSYM);
        Optional<Section> definitions = ofType(elf, SHT_GNU_VERDEF);
        if (symbols.isEmpty() || definitions.isEmpty()) {
            return new SymbolVersions(Map.of(), Optional.empty());
        }
        return new SymbolVersions(names(elf, definitions.get()), Optional.of(elf.data(symbols.get())));
    }

    private static Optional<Section> ofType(ElfFile elf, int type) {
        return elf.sections().stream().filter(s -> s.type() == type).findFirst();
    }

    private static Map<Integer, String> names(ElfFile elf, Section section) {
        ByteView definitions = elf.data(section);
        ByteView strings = elf.data(elf.section(section.link()));
        Map<Integer, String> names = new HashMap<>();
        long at = 0;
        for (int i = 0; i < MAX_VERSIONS; i++) {
            long name = at + definitions.u32(at + DEFINITION_NAMES);
            names.putIfAbsent(
                    definitions.u16(at + DEFINITION_NUMBER), strings.cString(definitions.u32(name), MAX_NAME_BYTES));
            long next = definitions.u32(at + DEFINITION_NEXT);
            if (next == 0) {
                return names;
            }
            at += next;
        }
        throw definitions.malformed(at, "more than " + MAX_VERSIONS + " symbol versions");
    }

    /** The version of a dynamic symbol that the file defines; empty if it has none. */
    public Optional<Version> of(Symbol dynamic) {
        if (numbers.isEmpty() || dynamic.index() >= numbers.get().size() / 2 || !dynamic.isDefined()) {
            return Optional.empty();
        }
        int number = numbers.get().u16(2 * dynamic.index());
        // Number 1 is the file itself, whose record has the file's name and stands for "no version".
        String name = (number & ~HIDDEN) < 2 ? null : names.get(number & ~HIDDEN);
        return name == null ? Optional.empty() : Optional.of(new Version(name, (number & HIDDEN) == 0));
    }
}
