package io.bpf4j.loader.spec;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.sys.kernel.MapType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Global data: a map for each section of variables. BTF has the variables' types. The symbols have their offsets: clang
 * writes offsets of 0 into the DATASEC, which a linker sets later. Static variables are the exception: their offset is
 * in the DATASEC from the start, and their names may occur twice.
 *
 * <p>The map of a section can be mapped by user space if one of its variables is visible outside the object. A section
 * of only static and hidden variables is read and written by system calls. This is necessary for values that user space
 * must not write, such as {@code private(A) struct bpf_spin_lock lock}: the kernel does not allow mapping such a map
 * (bpf_map_mmap in kernel/bpf/syscall.c), and a system call leaves the lock unchanged.
 *
 * <p><i>Confined.</i>
 */
record DataReader(ObjectFile file) {
    /** A larger section is refused, because it becomes one value of an array map, allocated in the kernel. */
    private static final long MAX_BYTES = 1L << 30;

    /** The section in which clang puts variables of address space 1, {@code __attribute__((address_space(1)))}. */
    private static final String ARENA = ".addr_space.1";

    static boolean isReadOnly(String section) {
        return section.equals(".rodata") || section.startsWith(".rodata.");
    }

    private static boolean isData(Section section) {
        String name = section.name();
        // No compiler writes a .data without bytes, and a false size would have to be allocated and filled.
        int type = name.equals(".bss") || name.startsWith(".bss.") ? Section.SHT_NOBITS : Section.SHT_PROGBITS;
        boolean named =
                type == Section.SHT_NOBITS || isReadOnly(name) || name.equals(".data") || name.startsWith(".data.");
        return named && section.type() == type && section.has(Section.SHF_ALLOC) && !section.isExecutable();
    }

    List<MapSpec> read() {
        List<MapSpec> maps = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (Section section : file.elf.sections()) {
            if (isData(section) && section.size() != 0) {
                // Checked before its variables are read, which BTF lists by section name.
                if (!names.add(section.name())) {
                    throw file.invalid("two sections of variables are named \"" + section.name() + "\"");
                }
                maps.add(map(data(section, section.name())));
            }
        }
        return maps;
    }

    /** The arena with the variables that live in it ({@code __arena}); other maps as they are. */
    List<MapSpec> withArenaData(List<MapSpec> maps) {
        Optional<Section> section = file.elf.section(ARENA).filter(s -> s.size() != 0);
        List<MapSpec> arenas =
                maps.stream().filter(map -> map.is(MapType.ARENA)).toList();
        if (arenas.size() > 1) {
            throw file.invalid("has the arenas \"" + arenas.get(0).name() + "\" and \""
                    + arenas.get(1).name()
                    + "\"; the kernel allows one arena per program, so an object can have only one");
        }
        if (section.isEmpty()) {
            return maps;
        }
        if (arenas.isEmpty()) {
            throw file.invalid(
                    "has variables in an arena (section " + ARENA + "), but no map of type ARENA to put them in");
        }
        MapSpec arena = arenas.getFirst();
        DataSection data = data(section.get(), arena.name());
        return maps.stream()
                .map(map -> map.is(MapType.ARENA)
                        ? RecordCopy.with(map, MapSpecData.class, "data", Optional.of(data))
                        : map)
                .toList();
    }

    /** The map of a section. */
    MapSpec map(DataSection data) {
        boolean exported = data.variables().stream().anyMatch(GlobalSpec::exported);
        int flags = (exported ? MapSpec.F_MMAPABLE : 0) | (data.readOnly() ? MapSpec.F_RDONLY_PROG : 0);
        return new MapSpecData(
                data.name(),
                MapType.ARRAY.number(),
                4,
                data.size(),
                1,
                flags,
                0,
                file.datasecId(data.name()),
                Optional.of(data));
    }

    private DataSection data(Section section, String map) {
        if (section.size() < 0 || section.size() > MAX_BYTES) {
            throw file.invalid("section \"" + section.name() + "\" of " + Long.toUnsignedString(section.size())
                    + " bytes is too large for global data");
        }
        int size = (int) section.size();
        byte[] content = new byte[0];
        if (section.type() != Section.SHT_NOBITS) {
            content = file.bytes(section).toByteArray();
            size = content.length;
        }
        int bound = size;
        List<GlobalSpec> variables = file.datasec(section.name())
                .map(declared -> variables(section, map, bound, declared))
                .orElse(List.of());
        return new DataSection(section.name(), section.index(), content, size, isReadOnly(section.name()), variables);
    }

    private List<GlobalSpec> variables(Section section, String map, int size, BtfType.Datasec declared) {
        Btf types = file.types();
        Map<String, Symbol> places = file.symbolsOf(section);
        List<GlobalSpec> variables = new ArrayList<>();
        for (BtfType.SectionVariable variable : declared.variables()) {
            if (!(types.type(variable.type()) instanceof BtfType.Var var)) {
                continue;
            }
            boolean isStatic = var.linkage() == BtfType.Linkage.STATIC;
            Symbol symbol = isStatic ? null : places.get(var.name());
            long offset = symbol != null && declared.size() == 0 ? symbol.value() : variable.offset();
            long bytes = variable.size();
            if (offset < 0 || bytes < 0 || bytes > size || offset > size - bytes) {
                throw file.invalid("variable \"" + var.name() + "\" of " + bytes + " bytes at " + offset
                        + " is not within the " + size + " bytes of section \"" + section.name() + "\"");
            }
            boolean exported = !isStatic && (symbol == null || !symbol.isHidden());
            variables.add(
                    new GlobalSpec(var.name(), map, (int) offset, (int) bytes, var.type(), variable.type(), exported));
        }
        variables.sort(Comparator.comparingInt(GlobalSpec::offset));
        return variables;
    }
}
