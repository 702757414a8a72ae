package io.bpf4j.loader.spec;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.Relocation;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.loader.error.InvalidObjectException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * Reads the struct_ops variables of an object.
 *
 * <p>In C such a variable is initialised with the addresses of programs. The compiler can't know these and writes a
 * relocation for each; only BTF has the names of the members:
 *
 * <pre>
 *   SEC(".struct_ops.link") struct tcp_congestion_ops mine = { .ssthresh = (void *)my_ssthresh, .name = "mine" };
 *
 *   DATASEC .struct_ops.link   variable "mine", STRUCT tcp_congestion_ops
 *   .rel.struct_ops.link       byte 24 of the section: symbol my_ssthresh
 * </pre>
 *
 * <i>Confined.</i>
 */
final class StructOpsReader {
    private static final int POINTER = 8;

    private final ObjectFile file;
    private final Map<Integer, Map<Long, List<FunctionSpecData>>> code;
    private final Map<Integer, Shape> shapes = new HashMap<>();

    /** @param code the functions of the code sections, by their place in bytes */
    StructOpsReader(ObjectFile file, Map<Integer, Map<Long, List<FunctionSpecData>>> code) {
        this.file = file;
        this.code = code;
    }

    /**
     * The members of a struct, shared by all variables of its type.
     *
     * @param functions those that are pointers to functions, by their offset; the first of several in a union
     */
    private record Shape(List<StructOpsSpec.Member> members, Map<Long, StructOpsSpec.Member> functions) {}

    List<StructOpsSpec> read() {
        List<StructOpsSpec> all = new ArrayList<>();
        for (Section section : file.elf.sections()) {
            boolean optional = section.name().startsWith("?");
            String name = optional ? section.name().substring(1) : section.name();
            if ((name.equals(StructOpsSpecData.DIRECT) || name.equals(StructOpsSpecData.LINKED))
                    && section.type() == Section.SHT_PROGBITS
                    && section.size() != 0) {
                all.addAll(new Variables(section, name, !optional).read());
            }
        }
        return all;
    }

    /** The variables of one section. */
    private final class Variables {
        private final Section section;
        private final String sectionName;
        private final boolean autocreate;
        private final Btf types;
        private final ByteView content;

        /** Those of functions that no variable has had yet, by their place in the section. */
        private final NavigableMap<Long, Relocation> relocations;

        /** The variables that were read, by where they begin. */
        private final NavigableMap<Long, StructOpsSpec> placed = new TreeMap<>();

        Variables(Section section, String sectionName, boolean autocreate) {
            this.section = section;
            this.sectionName = sectionName;
            this.autocreate = autocreate;
            this.types = file.btf.orElseThrow(() -> invalid(section, "needs BTF; compile the object with -g"));
            this.content = file.bytes(section);
            this.relocations = file.relocations(section);
        }

        List<StructOpsSpec> read() {
            BtfType.Datasec datasec =
                    file.datasec(section.name()).orElseThrow(() -> invalid(section, "is not described in BTF"));
            List<StructOpsSpec> all = new ArrayList<>();
            for (BtfType.SectionVariable variable : datasec.variables()) {
                if (types.type(variable.type()) instanceof BtfType.Var var) {
                    all.add(read(variable, var));
                }
            }
            if (!relocations.isEmpty()) {
                throw content.malformed(
                        0,
                        "relocation of byte " + relocations.firstKey() + " of section \"" + section.name()
                                + "\", where there is no variable");
            }
            return all;
        }

        private StructOpsSpec read(BtfType.SectionVariable variable, BtfType.Var var) {
            int typeId = types.resolve(var.type());
            if (!(types.type(typeId) instanceof BtfType.Struct struct)) {
                throw invalid(section, "contains \"" + var.name() + "\", which is not a struct");
            }
            Symbol symbol = file.symbolsOf(section).get(var.name());
            long start = symbol != null ? symbol.value() : variable.offset();
            requireRoom(var.name(), start, struct.size());
            requireApart(var.name(), start, struct.size());
            Shape shape = shapes.computeIfAbsent(typeId, _ -> shape(types, section, struct));
            Map<String, String> functions = functions(var.name(), start, struct, shape);
            StructOpsSpec read = new StructOpsSpecData(
                    var.name(),
                    sectionName,
                    autocreate,
                    true,
                    struct.name(),
                    typeId,
                    file.elf.header().order(),
                    content.slice(start, struct.size()).toByteArray(),
                    shape.members(),
                    functions,
                    Set.of());
            placed.put(start, read);
            return read;
        }

        private void requireRoom(String variable, long start, long size) {
            if (start < 0 || size == 0 || size > content.size() || start > content.size() - size) {
                throw invalid(
                        section,
                        "of " + content.size() + " bytes has no room for \"" + variable + "\", " + size + " bytes at "
                                + start);
            }
        }

        /** Each variable becomes its own struct, so overlapping variables would multiply the data. */
        private void requireApart(String variable, long start, long size) {
            Map.Entry<Long, StructOpsSpec> before = placed.lowerEntry(start + size);
            if (before != null && before.getKey() + types.size(before.getValue().typeId()) > start) {
                throw invalid(
                        section, "has \"" + before.getValue().name() + "\" and \"" + variable + "\" at the same place");
            }
        }

        /** The programs of a variable by the members that have their addresses; takes their relocations away. */
        private Map<String, String> functions(String variable, long start, BtfType.Struct struct, Shape shape) {
            Map<String, String> functions = new LinkedHashMap<>();
            NavigableMap<Long, Relocation> own = relocations.subMap(start, true, start + struct.size(), false);
            while (!own.isEmpty()) {
                Relocation relocation = own.pollFirstEntry().getValue();
                long at = relocation.offset() - start;
                StructOpsSpec.Member member = shape.functions().get(at);
                if (member == null) {
                    throw invalid(
                            section,
                            "has a relocation for byte " + at + " of \"" + variable + "\", where struct "
                                    + struct.name() + " has no pointer to a function");
                }
                functions.put(member.name(), function(section, content, relocation));
            }
            return functions;
        }
    }

    private Shape shape(Btf types, Section section, BtfType.Struct struct) {
        List<StructOpsSpec.Member> members = new ArrayList<>();
        Map<Long, StructOpsSpec.Member> functions = new HashMap<>();
        for (BtfType.Member member : struct.members()) {
            // Members without a name can't be set, but are checked if the kernel lacks them.
            StructOpsSpec.Member describe = describe(types, section, struct, member);
            if (!member.name().isEmpty()) {
                members.add(describe);
                if (describe.function() && describe.size() == POINTER) {
                    functions.putIfAbsent((long) describe.offset(), describe);
                }
            }
        }
        return new Shape(List.copyOf(members), functions);
    }

    private StructOpsSpec.Member describe(Btf types, Section section, BtfType.Struct struct, BtfType.Member member) {
        long offset = member.bitOffset() / 8;
        long size = member.isBitField() ? 0 : types.size(member.type());
        long end = member.isBitField() ? (member.bitOffset() + member.bitSize() + 7) / 8 : offset + size;
        if (size < 0 || end < offset || end > struct.size()) {
            throw invalid(
                    section,
                    "has a struct " + struct.name() + " whose member \"" + member.name() + "\" is beyond its "
                            + struct.size() + " bytes");
        }
        boolean function = types.type(types.resolve(member.type())) instanceof BtfType.Ptr pointer
                && types.kind(types.resolve(pointer.type())) == BtfKind.FUNC_PROTO;
        return new StructOpsSpec.Member(member.name(), (int) offset, (int) size, function);
    }

    /**
     * The program that a relocation names. The relocation may use the section's symbol; the offset is then in the
     * bytes. Of a program and its aliases it is the one with the symbol's name.
     */
    private String function(Section section, ByteView content, Relocation relocation) {
        Symbol symbol = file.symbol(section, relocation);
        long target = symbol.value() + content.s64(relocation.offset());
        List<FunctionSpecData> functions = symbol.isInSection()
                ? code.getOrDefault(symbol.sectionIndex(), Map.of()).getOrDefault(target, List.of())
                : List.of();
        if (functions.isEmpty()) {
            throw invalid(section, "refers to \"" + symbol.name() + "\", which is not a function of the object");
        }
        return functions.stream()
                .map(FunctionSpec::name)
                .filter(name -> name.equals(symbol.name()))
                .findFirst()
                .orElse(functions.getFirst().name());
    }

    private InvalidObjectException invalid(Section section, String problem) {
        return file.invalid("section \"" + section.name() + "\" " + problem);
    }
}
