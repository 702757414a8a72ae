package io.bpf4j.loader.spec;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Reads maps defined without BTF: the variables of section {@code maps}. libbpf read them until 0.8 and refuses them
 * since 1.0, but such objects are still in use. <i>Confined.</i>
 *
 * <p>The bytes have the whole definition: each variable is a {@code struct bpf_map_def}, five words of 4 bytes in the
 * file's order.
 *
 * <pre>
 *   0  type
 *   4  key_size
 *   8  value_size
 *  12  max_entries
 *  16  map_flags
 * </pre>
 *
 * <p>All variables of a section have the same size, which follows from the section's size and their number. Some
 * loaders extended the struct (iproute2's {@code bpf_elf_map} with pinning and inner maps). The rest of an extended
 * struct must be zero, because its layout is unknown. Types of key and value, for tools that print maps, are known if a
 * struct {@code ____btf_map_NAME} has members key and value (the macro BPF_ANNOTATE_KV_PAIR).
 *
 * <p>Tested by {@code LoadedDefinitionsTest} and {@code LegacyMapsOnKernelTest}.
 */
record LegacyMapReader(ObjectFile file) {
    static final String SECTION = "maps";

    private static final int TYPE = 0;
    private static final int KEY_SIZE = 4;
    private static final int VALUE_SIZE = 8;
    private static final int MAX_ENTRIES = 12;
    private static final int FLAGS = 16;
    private static final int SIZE = 20;

    /** The maps in the order of the section; empty if the section does not exist. */
    List<MapSpec> read() {
        Optional<Section> found = file.elf.section(SECTION).filter(s -> s.size() > 0);
        if (found.isEmpty()) {
            return List.of();
        }
        ByteView section = file.elf.data(found.get());
        List<Symbol> variables = file.symbolsOf(found.get()).values().stream()
                .sorted(Comparator.comparingLong(Symbol::value))
                .toList();
        if (variables.isEmpty()) {
            throw file.invalid("section \"" + SECTION + "\" has " + section.size() + " bytes, but no symbol");
        }
        long size = section.size() / variables.size();
        if (section.size() % variables.size() != 0 || size < SIZE) {
            throw file.invalid("section \"" + SECTION + "\" of " + section.size() + " bytes can't be divided into "
                    + variables.size() + " maps of equal size, " + SIZE + " bytes or more");
        }
        List<MapSpec> maps = new ArrayList<>();
        for (int i = 0; i < variables.size(); i++) {
            Symbol variable = variables.get(i);
            if (variable.value() != i * size) {
                throw section.malformed(
                        i * size,
                        "map \"" + variable.name() + "\" is at byte " + variable.value()
                                + " of its section, but expected at byte " + i * size + ": the section has "
                                + variables.size() + " maps of " + size + " bytes each");
            }
            maps.add(map(variable.name(), section.slice(variable.value(), size)));
        }
        return maps;
    }

    private MapSpec map(String name, ByteView definition) {
        for (long at = SIZE; at < definition.size(); at++) {
            if (definition.u8(at) != 0) {
                throw definition.malformed(
                        at,
                        "map \"" + name + "\" has fields after the five of bpf_map_def, in the layout of another"
                                + " loader; define it by BTF in SEC(\".maps\")");
            }
        }
        int keySize = definition.s32(KEY_SIZE);
        int valueSize = definition.s32(VALUE_SIZE);
        return new MapSpecData(
                name,
                definition.s32(TYPE),
                keySize,
                valueSize,
                definition.s32(MAX_ENTRIES),
                definition.s32(FLAGS),
                typeOf(name, "key", keySize),
                typeOf(name, "value", valueSize),
                Optional.empty());
    }

    /** The id of the annotated type, if it has the right size; else 0. */
    private int typeOf(String map, String member, int size) {
        if (file.btf.isEmpty()) {
            return 0;
        }
        Btf types = file.types();
        OptionalInt annotation = types.find("____btf_map_" + map, BtfKind.STRUCT);
        if (annotation.isEmpty() || !(types.type(annotation.getAsInt()) instanceof BtfType.Struct struct)) {
            return 0;
        }
        return struct.members().stream()
                .filter(m -> m.name().equals(member))
                .filter(m -> types.size(m.type()) == size)
                .mapToInt(BtfType.Member::type)
                .findFirst()
                .orElse(0);
    }
}
