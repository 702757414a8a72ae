package io.bpf4j.loader.spec;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.Relocation;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.loader.error.InvalidObjectException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * An object file while it is read: the state that the readers of its parts share. <i>Confined.</i>
 *
 * <p>Tested by {@code ObjectFormsTest} and {@code HostileSectionsTest}.
 */
final class ObjectFile {
    final ElfFile elf;
    final List<Symbol> symbols;
    final Optional<Btf> btf;
    private final Map<Integer, Map<String, Symbol>> symbolsBySection = new HashMap<>();
    private long bytesLeft;

    ObjectFile(ElfFile elf) {
        this.elf = elf;
        this.symbols = elf.symbols().toList();
        this.btf = elf.section(".BTF").map(section -> Btf.parse(elf.data(section)));
        this.bytesLeft = elf.bytes().size();
        for (Symbol symbol : symbols) {
            if (symbol.isInSection() && symbol.type() != Symbol.STT_SECTION) {
                symbolsBySection
                        .computeIfAbsent(symbol.sectionIndex(), _ -> new HashMap<>())
                        .merge(symbol.name(), symbol, (one, other) -> one.isLocal() && !other.isLocal() ? other : one);
            }
        }
    }

    /**
     * The symbols of a section by name, without section symbols. If a name occurs several times, the global symbol,
     * else the first local one.
     */
    Map<String, Symbol> symbolsOf(Section section) {
        return symbolsBySection.getOrDefault(section.index(), Map.of());
    }

    /** The relocations of a section by their offset in bytes; of several at one offset the last. */
    NavigableMap<Long, Relocation> relocations(Section section) {
        NavigableMap<Long, Relocation> byPlace = new TreeMap<>();
        for (Relocation relocation : elf.relocations(section)) {
            byPlace.put(relocation.offset(), relocation);
        }
        return byPlace;
    }

    /** The symbol that a relocation of a section names. */
    Symbol symbol(Section section, Relocation relocation) {
        int index = relocation.symbolIndex();
        if (index < 0 || index >= symbols.size()) {
            throw malformed(
                    section,
                    relocation.offset(),
                    "relocation with symbol " + index + ", but there are " + symbols.size() + ", in");
        }
        return symbols.get(index);
    }

    /**
     * The bytes of a section of code or of variables; request each section only once. In total they are limited to the
     * size of the file: sections of a hostile file may overlap, and each section with code or data becomes objects
     * several times its size. Sections that a compiler writes never overlap.
     */
    ByteView bytes(Section section) {
        ByteView data = elf.data(section);
        bytesLeft -= data.size();
        if (bytesLeft < 0) {
            throw data.malformed(
                    0,
                    "section \"" + section.name()
                            + "\" overlaps others: sections of code and data are together larger than the file");
        }
        return data;
    }

    Btf types() {
        return btf.orElseThrow();
    }

    /** The variables of a section; empty if BTF has none. */
    Optional<BtfType.Datasec> datasec(String section) {
        int id = datasecId(section);
        return id == 0 ? Optional.empty() : Optional.of((BtfType.Datasec) types().type(id));
    }

    /** The id of a section's variables in BTF, 0 for none. */
    int datasecId(String section) {
        return btf.isEmpty() ? 0 : btf.get().find(section, BtfKind.DATASEC).orElse(0);
    }

    InvalidObjectException invalid(String problem) {
        return new InvalidObjectException(elf.source() + ": " + problem);
    }

    /** The exception for malformed data at a place of a section. The section's name is appended to the problem. */
    RuntimeException malformed(Section section, long place, String problem) {
        return elf.data(section).malformed(place, problem + " \"" + section.name() + "\"");
    }
}
