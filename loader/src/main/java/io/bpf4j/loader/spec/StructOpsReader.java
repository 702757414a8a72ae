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
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The structs of functions of an object.
 *
 * <p>In C such a variable is initialised with the addresses of programs. The compiler can't know these and leaves a
 * relocation for each; what a member is called, only BTF tells:
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

    /** A variable and where it starts in its section. */
    private record Placed(StructOpsSpec variable, int start) {}

    List<StructOpsSpec> read() {
        List<StructOpsSpec> all = new ArrayList<>();
        for (Section section : elf.sections()) {
            boolean optional = section.name().startsWith("?");
            String name = optional ? section.name().substring(1) : section.name();
            if ((name.equals(StructOpsSpec.DIRECT) || name.equals(StructOpsSpec.LINKED))
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
        List<Placed> placed = new ArrayList<>();
        for (BtfType.SectionVariable variable : datasec.variables()) {
            if (types.type(variable.type()) instanceof BtfType.Var var) {
                placed.add(variable(types, section, name, autocreate, content, variable, var));
            }
        }
        Map<Placed, Map<String, String>> functions = new HashMap<>();
        for (Relocation relocation : elf.relocations(section)) {
            Placed owner = owner(section, content, placed, relocation.offset());
            StructOpsSpec.Member member = member(section, owner, relocation.offset());
            String function = function(section, content, relocation);
            functions.computeIfAbsent(owner, _ -> new LinkedHashMap<>()).put(member.name(), function);
        }
        return placed.stream().map(each -> with(each, functions)).toList();
    }

    private static StructOpsSpec with(Placed placed, Map<Placed, Map<String, String>> functions) {
        StructOpsSpec variable = placed.variable();
        for (Map.Entry<String, String> function :
                functions.getOrDefault(placed, Map.of()).entrySet()) {
            variable = variable.withFunction(function.getKey(), function.getValue());
        }
        return variable;
    }

    private Placed variable(
            Btf types,
            Section section,
            String sectionName,
            boolean autocreate,
            ByteView content,
            BtfType.SectionVariable place,
            BtfType.Var var) {
        int typeId = types.resolve(var.type());
        if (!(types.type(typeId) instanceof BtfType.Struct struct)) {
            throw invalid(section, "holds \"" + var.name() + "\", which is no struct");
        }
        Symbol symbol = index.of(section).get(var.name());
        long start = symbol != null ? symbol.value() : place.offset();
        if (start < 0 || struct.size() > content.size() || start > content.size() - struct.size()) {
            throw invalid(
                    section,
                    "of " + content.size() + " bytes has no room for \"" + var.name() + "\", " + struct.size()
                            + " bytes at " + start);
        }
        List<StructOpsSpec.Member> members = new ArrayList<>();
        for (BtfType.Member member : struct.members()) {
            // Those without a name can't be set, but are looked at when the kernel lacks them.
            StructOpsSpec.Member described = described(types, section, struct, member);
            if (!member.name().isEmpty()) {
                members.add(described);
            }
        }
        StructOpsSpec spec = new StructOpsSpec(
                var.name(),
                sectionName,
                autocreate,
                true,
                struct.name(),
                typeId,
                elf.header().order(),
                content.slice(start, struct.size()).toByteArray(),
                members,
                Map.of());
        return new Placed(spec, (int) start);
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
                && types.type(types.resolve(pointer.type())) instanceof BtfType.FuncProto;
        return new StructOpsSpec.Member(member.name(), (int) offset, (int) size, function);
    }

    private Placed owner(Section section, ByteView content, List<Placed> placed, long offset) {
        for (Placed each : placed) {
            if (offset >= each.start()
                    && offset < each.start() + (long) each.variable().content().length) {
                return each;
            }
        }
        throw content.malformed(
                0, "relocation of byte " + offset + " of section \"" + section.name() + "\", where no variable is");
    }

    private StructOpsSpec.Member member(Section section, Placed owner, long offset) {
        return owner.variable().members().stream()
                .filter(m -> m.offset() == offset - owner.start() && m.function() && m.size() == POINTER)
                .findFirst()
                .orElseThrow(() -> invalid(
                        section,
                        "gives \"" + owner.variable().name() + "\" an address at byte " + (offset - owner.start())
                                + ", where struct " + owner.variable().type() + " has no pointer to a function"));
    }

    /** The program that a relocation names. It may do so by the section's symbol, with the place in the bytes. */
    private String function(Section section, ByteView content, Relocation relocation) {
        if (relocation.symbolIndex() < 0 || relocation.symbolIndex() >= symbols.size()) {
            throw content.malformed(
                    0,
                    "relocation with symbol " + relocation.symbolIndex() + " of " + symbols.size() + " in section \""
                            + section.name() + "\"");
        }
        Symbol symbol = symbols.get(relocation.symbolIndex());
        long target = symbol.value() + content.s64(relocation.offset());
        if (symbol.isInSection() && target % Instruction.SIZE == 0) {
            for (FunctionBuilder function : code.getOrDefault(symbol.sectionIndex(), List.of())) {
                if (function.slot == target / Instruction.SIZE) {
                    return function.name;
                }
            }
        }
        throw invalid(section, "refers to \"" + symbol.name() + "\", which is no function of the object");
    }

    private InvalidObjectException invalid(Section section, String problem) {
        return new InvalidObjectException(elf.source() + ": section \"" + section.name() + "\" " + problem);
    }
}
