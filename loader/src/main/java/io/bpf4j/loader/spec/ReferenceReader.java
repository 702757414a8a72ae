package io.bpf4j.loader.spec;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.Relocation;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.ObjectReader.FunctionBuilder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Turns the relocations of code sections into {@link CodeReference}s.
 *
 * <p>A relocation names an offset and a symbol; its meaning follows from the instruction at the offset and from the
 * symbol's section. BPF objects carry the addend in the instruction ({@code SHT_REL}):
 *
 * <pre>
 *   instruction       symbol in …           meaning
 *   64-bit load       .maps                 address of the map of that name
 *   64-bit load       .data, .rodata, .bss  address of byte symbol.value + imm of that section
 *   64-bit load       .jumptables           address of byte symbol.value + imm, in a jump table
 *   64-bit load       code                  address of the function at symbol.value + imm
 *   64-bit load       nowhere (undefined)   address of an extern
 *   call, src = 1     code                  call of the function at symbol.value + (imm + 1) * 8
 *   call              nowhere (undefined)   call of a kernel function
 *   call, src = 1     no relocation         call within the section: slot + imm + 1
 * </pre>
 *
 * Source: Documentation/bpf/llvm_reloc.rst of the kernel. <i>Confined.</i>
 *
 * <p>Tested by {@code ObjectFormsTest}.
 */
final class ReferenceReader {
    private final ElfFile elf;
    private final List<Symbol> symbols;
    private final Map<Integer, List<FunctionBuilder>> code;
    private final JumpTableReader jumpTables;
    private final Map<Integer, MapSpec> dataBySection = new HashMap<>();
    private final Set<String> mapNames = new HashSet<>();
    private final Map<String, ExternSpec> externs = new HashMap<>();

    ReferenceReader(
            ElfFile elf,
            List<Symbol> symbols,
            List<MapSpec> maps,
            List<ExternSpec> externs,
            Map<Integer, List<FunctionBuilder>> code) {
        this.elf = elf;
        this.symbols = symbols;
        this.code = code;
        this.jumpTables = new JumpTableReader(elf, symbols);
        for (MapSpec map : maps) {
            DataSection data = map.data();
            if (data != null) {
                dataBySection.put(data.sectionIndex(), map);
            }
            if (!map.isData()) {
                mapNames.add(map.name());
            }
        }
        externs.forEach(extern -> this.externs.put(extern.name(), extern));
    }

    void read() {
        for (Map.Entry<Integer, List<FunctionBuilder>> entry : code.entrySet()) {
            Section section = elf.section(entry.getKey());
            Set<Long> related = new HashSet<>();
            for (Relocation relocation : elf.relocations(section)) {
                add(section, entry.getValue(), relocation, related);
            }
            for (FunctionBuilder function : entry.getValue()) {
                addCallsWithinSection(function, related);
            }
        }
    }

    /** The compiler resolves calls of static functions in the same section itself, without a relocation. */
    private void addCallsWithinSection(FunctionBuilder function, Set<Long> related) {
        for (int i = 0; i < function.instructions.size(); i++) {
            Instruction instruction = function.instructions.get(i);
            if (instruction.isSubprogramCall() && !related.contains((long) function.slot + i)) {
                long target = (long) function.slot + i + instruction.imm() + 1;
                function.references.add(
                        new CodeReference.ToFunction(i, function.section.index(), slot(function, i, target)));
            }
        }
    }

    private void add(Section section, List<FunctionBuilder> functions, Relocation relocation, Set<Long> related) {
        long place = relocation.offset();
        if (place < 0 || place % Instruction.SIZE != 0 || place >= section.size()) {
            throw malformed(section, place, "relocation of a place that is not an instruction of section");
        }
        long slot = place / Instruction.SIZE;
        FunctionBuilder function = holding(functions, slot);
        if (function == null) {
            throw malformed(section, place, "relocation of an instruction outside every function of");
        }
        if (relocation.symbolIndex() < 0 || relocation.symbolIndex() >= symbols.size()) {
            throw malformed(
                    section,
                    place,
                    "relocation with symbol " + relocation.symbolIndex() + " of " + symbols.size() + " in");
        }
        related.add(slot);
        int index = (int) (slot - function.slot);
        function.references.add(reference(function, index, symbols.get(relocation.symbolIndex())));
    }

    /** The function that a slot belongs to. The functions are sorted by offset and don't overlap. */
    private static @Nullable FunctionBuilder holding(List<FunctionBuilder> functions, long slot) {
        int low = 0;
        int high = functions.size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            FunctionBuilder candidate = functions.get(middle);
            if (candidate.contains(slot)) {
                return candidate;
            }
            if (slot < candidate.slot) {
                high = middle - 1;
            } else {
                low = middle + 1;
            }
        }
        return null;
    }

    private CodeReference reference(FunctionBuilder function, int index, Symbol symbol) {
        Instruction instruction = function.instructions.get(index);
        if (instruction.isLoadImm64()) {
            return loadedAddress(function, index, instruction, symbol);
        }
        if (!instruction.isCall()) {
            throw invalid(function, index, symbol, "is neither a call nor a 64-bit load");
        }
        if (!symbol.isDefined()) {
            if (!externs.containsKey(symbol.name())) {
                throw invalid(function, index, symbol, "calls a function that neither this object nor BTF knows");
            }
            return new CodeReference.ToKernelFunction(index, symbol.name());
        }
        if (!code.containsKey(symbol.sectionIndex())) {
            throw invalid(function, index, symbol, "calls something that is no function");
        }
        requireWhole(function, index, symbol, symbol.value());
        long target = symbol.value() / Instruction.SIZE + instruction.imm() + 1;
        return new CodeReference.ToFunction(index, symbol.sectionIndex(), slot(function, index, target));
    }

    private CodeReference loadedAddress(FunctionBuilder function, int index, Instruction instruction, Symbol symbol) {
        if (index + 1 >= function.instructions.size()) {
            throw invalid(function, index, symbol, "is a 64-bit load without its second half");
        }
        if (!symbol.isDefined()) {
            if (!externs.containsKey(symbol.name())) {
                throw invalid(function, index, symbol, "refers to an extern of which BTF says nothing");
            }
            return new CodeReference.ToExtern(index, symbol.name());
        }
        if (!symbol.isInSection()) {
            throw invalid(function, index, symbol, "refers to a symbol of no section");
        }
        if (code.containsKey(symbol.sectionIndex())) {
            long bytes = symbol.value() + instruction.imm();
            requireWhole(function, index, symbol, bytes);
            return new CodeReference.ToFunctionAddress(
                    index, symbol.sectionIndex(), slot(function, index, bytes / Instruction.SIZE));
        }
        if (jumpTables.isIn(symbol)) {
            return jumpTable(function, index, symbol, symbol.value() + instruction.imm());
        }
        MapSpec carrier = dataBySection.get(symbol.sectionIndex());
        DataSection data = carrier == null ? null : carrier.data();
        if (carrier != null && data != null) {
            long offset = symbol.value() + instruction.imm();
            if (offset < 0 || offset > data.size()) {
                throw invalid(
                        function,
                        index,
                        symbol,
                        "refers to byte " + offset + " of \"" + data.name() + "\", which has " + data.size());
            }
            return new CodeReference.ToData(index, carrier.name(), (int) offset);
        }
        if (mapNames.contains(symbol.name()) && isMaps(symbol)) {
            return new CodeReference.ToMap(index, symbol.name());
        }
        throw invalid(
                function,
                index,
                symbol,
                "refers to something that is neither a map nor a global variable nor a" + " function: section \""
                        + elf.section(symbol.sectionIndex()).name() + "\"");
    }

    /** A jump stays in its function, because the verifier checks one function at a time. */
    private CodeReference jumpTable(FunctionBuilder function, int index, Symbol symbol, long offset) {
        JumpTableReader.Table table = jumpTables.holding(offset);
        if (!function.contains(table.lowest()) || !function.contains(table.highest())) {
            throw invalid(function, index, symbol, "refers to a jump table that leads out of the function");
        }
        return new CodeReference.ToJumpTable(index, table.start(), (int) (offset - table.start()), table.slots());
    }

    /** A static variable in another section may have a map's name. */
    private boolean isMaps(Symbol symbol) {
        String section = elf.section(symbol.sectionIndex()).name();
        return section.equals(MapReader.SECTION) || section.equals(LegacyMapReader.SECTION);
    }

    private void requireWhole(FunctionBuilder function, int index, Symbol symbol, long bytes) {
        if (bytes % Instruction.SIZE != 0) {
            throw invalid(
                    function, index, symbol, "refers to byte " + bytes + " of code, which is inside an instruction");
        }
    }

    private int slot(FunctionBuilder function, int index, long target) {
        if (target < 0 || target > Integer.MAX_VALUE) {
            throw new InvalidObjectException(elf.source() + ": function \"" + function.name + "\": instruction " + index
                    + " refers to slot " + target + ", which no section has");
        }
        return (int) target;
    }

    private RuntimeException malformed(Section section, long place, String problem) {
        ByteView data = elf.data(section);
        return data.malformed(place, problem + " \"" + section.name() + "\"");
    }

    private InvalidObjectException invalid(FunctionBuilder function, int index, Symbol symbol, String problem) {
        return new InvalidObjectException(elf.source() + ": function \"" + function.name + "\": instruction " + index
                + " (symbol \"" + symbol.name() + "\") " + problem);
    }
}
