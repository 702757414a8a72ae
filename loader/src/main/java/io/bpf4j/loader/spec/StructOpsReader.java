package io.bpf4j.loader.spec;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.Relocation;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.ObjectReader.FunctionBuilder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
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

    private final ElfFile elf;
    private final Optional<Btf> btf;
    private final List<Symbol> symbols;
    private final SymbolIndex index;
    private final SectionBytes bytes;
    private final Map<Integer, List<FunctionBuilder>> code;
    /** By section and offset, filled on request. */
    private final Map<Integer, Map<Long, String>> functionNames = new HashMap<>();

    private final Map<Integer, Shape> shapes = new HashMap<>();

    StructOpsReader(
            ElfFile elf,
            Optional<Btf> btf,
            List<Symbol> symbols,
            SymbolIndex index,
            SectionBytes bytes,
            Map<Integer, List<FunctionBuilder>> code) {
        this.elf = elf;
        this.btf = btf;
        this.symbols = symbols;
        this.index = index;
        this.bytes = bytes;
        this.code = code;
    }

    /**
     * The layout of a struct, shared by all variables of its type.
     *
     * @param functions members that are pointers to functions, by their offset; the first of several in a union
     */
    private record Shape(
            BtfType.Struct struct, List<StructOpsSpec.Member> members, Map<Long, StructOpsSpec.Member> functions) {}

    /**
     * A variable and its offset in the section.
     *
     * @param functions programs of the object, by member
     */
    private record Placed(String name, int typeId, Shape shape, long start, Map<String, String> functions) {
        long end() {
            return start + shape.struct().size();
        }
    }

    List<StructOpsSpec> read() {
        List<StructOpsSpec> all = new ArrayList<>();
        for (Section section : elf.sections()) {
            boolean optional = section.name().startsWith("?");
            String name = optional ? section.name().substring(1) : section.name();
            if ((name.equals(StructOpsSpecData.DIRECT) || name.equals(StructOpsSpecData.LINKED))
                    && section.type() == Section.SHT_PROGBITS
                    && section.size() != 0) {
                all.addAll(read(section, name, !optional));
            }
        }
        return all;
    }

    private List<StructOpsSpec> read(Section section, String name, boolean autocreate) {
        Btf types = btf.orElseThrow(() -> invalid(section, "needs BTF; compile the object with -g"));
        ByteView content = bytes.of(section);
        OptionalInt id = types.find(section.name(), BtfKind.DATASEC);
        if (id.isEmpty() || !(types.type(id.getAsInt()) instanceof BtfType.Datasec datasec)) {
            throw invalid(section, "is not described in BTF");
        }
        List<Placed> all = new ArrayList<>();
        NavigableMap<Long, Placed> placed = new TreeMap<>();
        for (BtfType.SectionVariable variable : datasec.variables()) {
            if (types.type(variable.type()) instanceof BtfType.Var var) {
                Placed each = variable(types, section, content, variable, var);
                // Each variable becomes its own struct, so overlapping variables would multiply the data.
                Map.Entry<Long, Placed> before = placed.lowerEntry(each.end());
                if (before != null && before.getValue().end() > each.start()) {
                    throw invalid(
                            section,
                            "has \"" + before.getValue().name() + "\" and \"" + each.name() + "\" at the same place");
                }
                placed.put(each.start(), each);
                all.add(each);
            }
        }
        for (Relocation relocation : elf.relocations(section)) {
            Placed owner = owner(section, content, placed, relocation.offset());
            StructOpsSpec.Member member = member(section, owner, relocation.offset());
            owner.functions().put(member.name(), function(section, content, relocation));
        }
        return all.stream()
                .<StructOpsSpec>map(each -> new StructOpsSpecData(
                        each.name(),
                        name,
                        autocreate,
                        true,
                        each.shape().struct().name(),
                        each.typeId(),
                        elf.header().order(),
                        content.slice(each.start(), each.shape().struct().size())
                                .toByteArray(),
                        each.shape().members(),
                        each.functions()))
                .toList();
    }

    private Placed variable(
            Btf types, Section section, ByteView content, BtfType.SectionVariable place, BtfType.Var var) {
        int typeId = types.resolve(var.type());
        if (!(types.type(typeId) instanceof BtfType.Struct struct)) {
            throw invalid(section, "holds \"" + var.name() + "\", which is no struct");
        }
        Symbol symbol = index.of(section).get(var.name());
        long start = symbol != null ? symbol.value() : place.offset();
        if (start < 0
                || struct.size() == 0
                || struct.size() > content.size()
                || start > content.size() - struct.size()) {
            throw invalid(
                    section,
                    "of " + content.size() + " bytes has no room for \"" + var.name() + "\", " + struct.size()
                            + " bytes at " + start);
        }
        Shape shape = shapes.computeIfAbsent(typeId, _ -> shape(types, section, struct));
        return new Placed(var.name(), typeId, shape, start, new LinkedHashMap<>());
    }

    private Shape shape(Btf types, Section section, BtfType.Struct struct) {
        List<StructOpsSpec.Member> members = new ArrayList<>();
        Map<Long, StructOpsSpec.Member> functions = new HashMap<>();
        for (BtfType.Member member : struct.members()) {
            // Members without a name can't be set, but are checked if the kernel lacks them.
            StructOpsSpec.Member described = described(types, section, struct, member);
            if (!member.name().isEmpty()) {
                members.add(described);
                if (described.function() && described.size() == POINTER) {
                    functions.putIfAbsent((long) described.offset(), described);
                }
            }
        }
        return new Shape(struct, List.copyOf(members), functions);
    }

    private StructOpsSpec.Member described(Btf types, Section section, BtfType.Struct struct, BtfType.Member member) {
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

    private static Placed owner(Section section, ByteView content, NavigableMap<Long, Placed> placed, long offset) {
        Map.Entry<Long, Placed> at = placed.floorEntry(offset);
        if (at != null && offset < at.getValue().end()) {
            return at.getValue();
        }
        throw content.malformed(
                0, "relocation of byte " + offset + " of section \"" + section.name() + "\", where no variable is");
    }

    private StructOpsSpec.Member member(Section section, Placed owner, long offset) {
        StructOpsSpec.Member member = owner.shape().functions().get(offset - owner.start());
        if (member == null) {
            throw invalid(
                    section,
                    "gives \"" + owner.name() + "\" an address at byte " + (offset - owner.start()) + ", where struct "
                            + owner.shape().struct().name() + " has no pointer to a function");
        }
        return member;
    }

    /**
     * The program that a relocation names. The relocation may use the section's symbol; the offset is then in the
     * bytes.
     */
    private String function(Section section, ByteView content, Relocation relocation) {
        if (relocation.symbolIndex() < 0 || relocation.symbolIndex() >= symbols.size()) {
            throw content.malformed(
                    0,
                    "relocation with symbol " + relocation.symbolIndex() + " of " + symbols.size() + " in section \""
                            + section.name() + "\"");
        }
        Symbol symbol = symbols.get(relocation.symbolIndex());
        long target = symbol.value() + content.s64(relocation.offset());
        String name = symbol.isInSection() ? functionsOf(symbol.sectionIndex()).get(target) : null;
        if (name == null) {
            throw invalid(section, "refers to \"" + symbol.name() + "\", which is no function of the object");
        }
        return name;
    }

    /** The names of the functions in a section, by their offset in bytes. */
    private Map<Long, String> functionsOf(int section) {
        return functionNames.computeIfAbsent(section, index -> {
            Map<Long, String> names = new HashMap<>();
            for (FunctionBuilder function : code.getOrDefault(index, List.of())) {
                names.put((long) function.slot * Instruction.SIZE, function.name);
            }
            return names;
        });
    }

    private InvalidObjectException invalid(Section section, String problem) {
        return new InvalidObjectException(elf.source() + ": section \"" + section.name() + "\" " + problem);
    }
}
