package io.bpf4j.loader.spec;

import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Symbols by section and name, without section symbols. If a name occurs several times, the index has the global
 * symbol, else the first local one. <i>Immutable.</i>
 */
final class SymbolIndex {
    private final Map<Integer, Map<String, Symbol>> bySection = new HashMap<>();

    SymbolIndex(List<Symbol> symbols) {
        for (Symbol symbol : symbols) {
            if (symbol.isInSection() && symbol.type() != Symbol.STT_SECTION) {
                bySection
                        .computeIfAbsent(symbol.sectionIndex(), index -> new HashMap<>())
                        .merge(symbol.name(), symbol, (one, other) -> one.isLocal() && !other.isLocal() ? other : one);
            }
        }
    }

    /** The symbols of a section, by name. */
    Map<String, Symbol> of(Section section) {
        return bySection.getOrDefault(section.index(), Map.of());
    }
}
