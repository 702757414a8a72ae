package io.bpf4j.loader.spec;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.Relocation;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.sys.internal.call.MapTraits;
import io.bpf4j.sys.kernel.MapType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads maps that BTF defines: the variables of section {@code .maps}. Maps of older objects, which {@link
 * LegacyMapReader} reads, come first. <i>Confined.</i>
 *
 * <p>The variable's type has the whole definition; its bytes are not used. A number is encoded as the length of an
 * array that a member points to, a type as the type that a member points to:
 *
 * <pre>
 *   struct {
 *       int (*type)[BPF_MAP_TYPE_HASH];    // a number: type 1
 *       int (*max_entries)[1024];          // a number
 *       u32 *key;                          // a type: 4 bytes and its BTF id
 *       struct event *value;               // a type
 *       struct inner *values[];            // the definition of the maps (or programs) in this map
 *   } events SEC(".maps");
 * </pre>
 *
 * The pointers in {@code values} may be initialised; relocations of {@code .maps} then name the map or program of each
 * slot. {@code .maps} has no other relocations.
 */
record MapReader(ObjectFile file) {
    static final String SECTION = ".maps";
    private static final int PIN_BY_NAME = 1;
    /** Bytes of a pointer in a BPF object, on every machine. */
    private static final int POINTER = 8;

    List<MapSpec> read() {
        List<MapSpec> maps = new ArrayList<>(new LegacyMapReader(file).read());
        Optional<Section> section = file.elf.section(SECTION);
        if (section.isEmpty()) {
            return maps;
        }
        Btf types = file.btf.orElseThrow(
                () -> file.invalid("has maps in section .maps but no BTF that describes them; compile it with -g"));
        BtfType.Datasec declared = file.datasec(SECTION)
                .orElseThrow(() ->
                        file.invalid("has a section .maps, but its BTF does not describe it; compile it with -g"));
        NavigableMap<Long, Relocation> relocations = file.relocations(section.get());
        for (BtfType.SectionVariable variable : declared.variables()) {
            if (!(types.type(variable.type()) instanceof BtfType.Var var)) {
                throw file.invalid("has an entry in section .maps that is not a variable");
            }
            if (var.linkage() == BtfType.Linkage.STATIC) {
                throw invalid(var.name(), "is static, so that it has no symbol for programs to refer to");
            }
            Symbol symbol = file.symbolsOf(section.get()).get(var.name());
            if (symbol == null) {
                throw invalid(var.name(), "has no symbol in section .maps");
            }
            int type = types.resolve(var.type());
            if (!(types.type(type) instanceof BtfType.Struct struct)) {
                throw invalid(var.name(), "is not defined by a struct");
            }
            maps.add(new Definition(types, var.name(), false)
                    .read(struct, slots(var.name(), struct, symbol, section.get(), relocations)));
        }
        if (!relocations.isEmpty()) {
            throw file.elf
                    .data(section.get())
                    .malformed(
                            relocations.firstKey(),
                            "relocation in section .maps that is not of a static value of a map");
        }
        return maps;
    }

    /** Static values: relocations within the variable, past the offset of its member {@code values}. */
    private List<MapSpec.Slot> slots(
            String map,
            BtfType.Struct struct,
            Symbol symbol,
            Section section,
            NavigableMap<Long, Relocation> relocations) {
        Optional<BtfType.Member> values =
                struct.members().stream().filter(m -> m.name().equals("values")).findFirst();
        List<MapSpec.Slot> slots = new ArrayList<>();
        if (values.isEmpty()) {
            return slots;
        }
        long first = symbol.value() + values.get().bitOffset() / 8;
        long end = symbol.value() + symbol.size();
        if (first < 0 || end < first || end > file.elf.data(section).size()) {
            throw invalid(map, "has static values outside its variable, or its variable is outside the section");
        }
        // A value belongs to one map: removing it prevents overlapping maps of a hostile file from multiplying it.
        NavigableMap<Long, Relocation> within = relocations.subMap(first, true, end, false);
        while (!within.isEmpty()) {
            Relocation relocation = within.pollFirstEntry().getValue();
            long at = relocation.offset();
            if ((at - first) % POINTER != 0 || at > end - POINTER) {
                throw file.elf
                        .data(section)
                        .malformed(at, "static value of map \"" + map + "\" that is not at one of its slots");
            }
            slots.add(new MapSpec.Slot(
                    (int) ((at - first) / POINTER), target(map, struct, file.symbol(section, relocation), section)));
        }
        return slots;
    }

    /** The target of a slot: a map of this section, or a program, depending on the map's type of values. */
    private String target(String map, BtfType.Struct struct, Symbol symbol, Section section) {
        boolean isMap = symbol.sectionIndex() == section.index();
        boolean isProgram = symbol.isFunction()
                && symbol.isInSection()
                && file.elf.section(symbol.sectionIndex()).isExecutable()
                && !file.elf.section(symbol.sectionIndex()).name().equals(ObjectReader.TEXT);
        boolean expectsMap = struct.members().stream()
                .filter(m -> m.name().equals("values"))
                .anyMatch(m -> Definition.valueOf(file.types(), m) instanceof BtfType.Struct);
        if (expectsMap ? !isMap : !isProgram) {
            throw invalid(
                    map,
                    "has the static value \"" + symbol.name() + "\", which is not "
                            + (expectsMap ? "a map of section .maps" : "a program"));
        }
        return symbol.name();
    }

    private InvalidObjectException invalid(String map, String problem) {
        return file.invalid("map \"" + map + "\" " + problem);
    }

    /** One definition being read, member by member. */
    private final class Definition {
        private final Btf types;
        private final String name;
        private final boolean isInner;
        private int type;
        private int keySize;
        private int valueSize;
        private int maxEntries;
        private int flags;
        private int numaNode;
        private long extra;
        private int keyTypeId;
        private int valueTypeId;
        private boolean pinByName;
        private boolean hasValues;
        private final Set<String> seen = new HashSet<>();
        private @Nullable MapSpec inner;

        Definition(Btf types, String name, boolean isInner) {
            this.types = types;
            this.name = name;
            this.isInner = isInner;
        }

        MapSpec read(BtfType.Struct struct, List<MapSpec.Slot> slots) {
            for (BtfType.Member member : struct.members()) {
                member(member);
            }
            if (type == 0) {
                throw invalid(name, "has no type");
            }
            boolean ofMaps = MapTraits.of(type).has(MapTraits.Trait.HOLDS_MAPS);
            if (hasValues && (ofMaps ? inner == null : type != MapType.PROG_ARRAY.number() || inner != null)) {
                throw invalid(name, "has a type that can't contain the maps or programs of its \"values\"");
            }
            if (ofMaps && inner == null && !isInner) {
                // Allowed: the caller then sets the definition of the inner maps.
                valueSize = 4;
            }
            if (slots.size() > 0 && keySize != 4) {
                throw invalid(name, "has static values, but keys of " + keySize + " bytes instead of 4");
            }
            if (maxEntries == 0 && slots.size() > 0) {
                maxEntries = slots.stream().mapToInt(MapSpec.Slot::index).max().orElse(0) + 1;
            }
            return new MapSpecData(
                    name,
                    type,
                    keySize,
                    valueSize,
                    maxEntries,
                    flags,
                    numaNode,
                    extra,
                    keyTypeId,
                    valueTypeId,
                    pinByName,
                    true,
                    0,
                    Optional.ofNullable(inner),
                    slots,
                    Optional.empty(),
                    List.of(),
                    Optional.empty());
        }

        private void member(BtfType.Member member) {
            if (hasValues) {
                throw invalid(
                        name, "has a member \"" + member.name() + "\" after \"values\", which must be the last member");
            }
            if (!seen.add(member.name())) {
                throw invalid(name, "has two members \"" + member.name() + "\"");
            }
            switch (member.name()) {
                case "type" -> type = (int) number(member);
                case "max_entries" -> maxEntries = (int) number(member);
                case "map_flags" -> flags = (int) number(member);
                case "numa_node" -> numaNode = (int) number(member);
                case "map_extra" -> extra = wideNumber(member);
                case "key_size" -> keySize = consistent(member, keySize, number(member));
                case "value_size" -> valueSize = consistent(member, valueSize, number(member));
                case "key" -> {
                    keyTypeId = pointee(member);
                    keySize = consistent(member, keySize, types.size(keyTypeId));
                }
                case "value" -> {
                    valueTypeId = pointee(member);
                    valueSize = consistent(member, valueSize, types.size(valueTypeId));
                }
                case "values" -> values(member);
                case "pinning" -> {
                    if (isInner) {
                        throw invalid(name, "can't be pinned: only its outer map can");
                    }
                    pinByName = pinning(number(member));
                }
                default -> throw invalid(name, "has a member \"" + member.name() + "\" that bpf4j does not know");
            }
        }

        private boolean pinning(long value) {
            if (value != 0 && value != PIN_BY_NAME) {
                throw invalid(name, "requests pinning " + value + ", but only 0 (none) and 1 (by name) exist");
            }
            return value == PIN_BY_NAME;
        }

        private int consistent(BtfType.Member member, int before, long now) {
            if (now < 0 || now > Integer.MAX_VALUE) {
                throw invalid(name, "has a " + member.name() + " of " + now + " bytes");
            }
            if (before != 0 && before != now) {
                throw invalid(
                        name,
                        "declares two sizes, " + before + " and " + now + " bytes (member " + member.name() + ")");
            }
            return (int) now;
        }

        /**
         * A 64-bit number: an enum with one value, as the macro __ulong creates, or a number encoded like the others.
         */
        private long wideNumber(BtfType.Member member) {
            return types.type(types.resolve(member.type())) instanceof BtfType.Enumeration enumeration
                            && enumeration.values().size() == 1
                    ? enumeration.values().getFirst().value()
                    : number(member);
        }

        /** A 32-bit number: the length of the array that the member points to. */
        private long number(BtfType.Member member) {
            if (types.type(types.resolve(pointee(member))) instanceof BtfType.Array array) {
                return array.count();
            }
            throw invalid(name, "has a member \"" + member.name() + "\" that is not a number");
        }

        private int pointee(BtfType.Member member) {
            if (types.type(types.resolve(member.type())) instanceof BtfType.Ptr pointer) {
                return pointer.type();
            }
            throw invalid(name, "has a member \"" + member.name() + "\" that is not a pointer");
        }

        private void values(BtfType.Member member) {
            if (isInner) {
                throw invalid(name, "is nested deeper than the kernel allows: maps of maps of maps");
            }
            BtfType target = valueOf(types, member);
            if (target == null) {
                throw invalid(name, "has a member \"values\" that is not an array of pointers without a length");
            }
            if (valueSize != 0 && valueSize != 4) {
                throw invalid(name, "has values of " + valueSize + " bytes, but maps and programs take 4");
            }
            hasValues = true;
            keySize = keySize == 0 ? 4 : keySize;
            valueSize = 4;
            if (target instanceof BtfType.Struct struct) {
                inner = new Definition(types, name + ".inner", true).read(struct, List.of());
            } else if (!(target instanceof BtfType.FuncProto)) {
                throw invalid(name, "has \"values\" that are neither maps nor programs");
            }
        }

        /** The type that the member {@code values} points to; null if the member is not one that __array creates. */
        static @Nullable BtfType valueOf(Btf types, BtfType.Member values) {
            return types.type(types.resolve(values.type())) instanceof BtfType.Array array
                            && array.count() == 0
                            && types.type(types.resolve(array.elementType())) instanceof BtfType.Ptr pointer
                    ? types.type(types.resolve(pointer.type()))
                    : null;
        }
    }
}
