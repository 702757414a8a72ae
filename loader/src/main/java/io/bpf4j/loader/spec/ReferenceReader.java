package io.bpf4j.loader.spec;

import io.bpf4j.elf.Relocation;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.error.InvalidObjectException;
import java.util.ArrayList;
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
 *   64-bit load       none (undefined)      address of an extern
 *   call, src = 1     code                  call of the function at symbol.value + (imm + 1) * 8
 *   call              none (undefined)      call of a kernel function
 *   call, src = 1     no relocation         call within the section: slot + imm + 1
 * </pre>
 *
 * Source: Documentation/bpf/llvm_reloc.rst of the kernel. <i>Confined.</i>
 *
 * <p>Tested by {@code ObjectFormsTest}.
 */
final class ReferenceReader {
    private final ObjectFile file;
    private final Map<Integer, Map<Long, List<FunctionSpecData>>> code;
    private final JumpTableReader jumpTables;
    private final Map<Integer, MapSpec> dataBySection = new HashMap<>();
    private final Set<String> mapNames = new HashSet<>();
    private final Set<String> externs = new HashSet<>();

    /** @param code the functions of the code sections, still without references */
    ReferenceReader(
            ObjectFile file,
            List<MapSpec> maps,
            List<ExternSpec> externs,
            Map<Integer, Map<Long, List<FunctionSpecData>>> code) {
        this.file = file;
        this.code = code;
        this.jumpTables = new JumpTableReader(file);
        for (MapSpec map : maps) {
            map.data().ifPresent(data -> dataBySection.put(data.sectionIndex(), map));
            if (!map.isData()) {
                mapNames.add(map.name());
            }
        }
        externs.forEach(extern -> this.externs.add(extern.name()));
    }

    /**
     * The functions of a section, with their references. Code that is in no function is not read: if one object has a
     * weak function and another has a strong one of that name, libbpf's linker ({@code bpftool gen object}) drops the
     * weak symbol, and leaves its instructions, their relocations and their records in {@code .BTF.ext} in the section.
     */
    List<FunctionSpec> read(Section section) {
        Map<Long, List<FunctionSpecData>> functions = code.getOrDefault(section.index(), Map.of());
        if (functions.isEmpty()) {
            return List.of();
        }
        @Nullable Relocation[] relocations = bySlot(section);
        List<FunctionSpec> read = new ArrayList<>();
        for (List<FunctionSpecData> aliases : functions.values()) {
            FunctionSpecData function = aliases.getFirst();
            List<CodeReference> references = new ArrayList<>();
            for (int i = 0; i < function.size(); i++) {
                int slot = function.slot() + i;
                Relocation relocation = relocations[slot];
                Instruction instruction = function.instructions().get(i);
                if (relocation != null) {
                    references.add(reference(function, i, file.symbol(section, relocation)));
                } else if (instruction.isSubprogramCall()) {
                    // The compiler resolves calls of static functions in the same section itself.
                    long target = (long) slot + instruction.imm() + 1;
                    references.add(new CodeReference.ToFunction(i, section.index(), slot(function, i, target)));
                }
            }
            List<CodeReference> shared = List.copyOf(references);
            aliases.forEach(alias -> read.add(alias.withReferences(shared)));
        }
        return read;
    }

    /**
     * The relocations. Those of code that is in no function are checked, too, but refer to nothing: a linker leaves such
     * code behind if a weak function was overridden.
     */
    private @Nullable Relocation[] bySlot(Section section) {
        @Nullable Relocation[] bySlot = new @Nullable Relocation[(int) (section.size() / Instruction.SIZE)];
        for (Relocation relocation : file.elf.relocations(section)) {
            long place = relocation.offset();
            if (place < 0 || place % Instruction.SIZE != 0 || place >= section.size()) {
                throw file.malformed(section, place, "relocation of a place that is not an instruction of section");
            }
            file.symbol(section, relocation);
            bySlot[(int) (place / Instruction.SIZE)] = relocation;
        }
        return bySlot;
    }

    private CodeReference reference(FunctionSpec function, int index, Symbol symbol) {
        Instruction instruction = function.instructions().get(index);
        if (instruction.isLoadImm64()) {
            return loadedAddress(function, index, instruction, symbol);
        }
        if (!instruction.isCall()) {
            throw invalid(function, index, symbol, "is neither a call nor a 64-bit load");
        }
        if (!symbol.isDefined()) {
            if (!externs.contains(symbol.name())) {
                throw invalid(
                        function,
                        index,
                        symbol,
                        "calls a function that is neither defined in this object nor declared in its BTF");
            }
            return new CodeReference.ToKernelFunction(index, symbol.name());
        }
        if (!code.containsKey(symbol.sectionIndex())) {
            throw invalid(function, index, symbol, "calls a symbol that is not a function");
        }
        requireInstructionStart(function, index, symbol, symbol.value());
        long target = symbol.value() / Instruction.SIZE + instruction.imm() + 1;
        return new CodeReference.ToFunction(index, symbol.sectionIndex(), slot(function, index, target));
    }

    private CodeReference loadedAddress(FunctionSpec function, int index, Instruction instruction, Symbol symbol) {
        if (index + 1 >= function.instructions().size()) {
            throw invalid(function, index, symbol, "is a 64-bit load without its second half");
        }
        if (!symbol.isDefined()) {
            if (!externs.contains(symbol.name())) {
                throw invalid(function, index, symbol, "refers to an extern that its BTF does not declare");
            }
            return new CodeReference.ToExtern(index, symbol.name());
        }
        if (symbol.sectionIndex() == Symbol.SHN_COMMON) {
            throw invalid(
                    function,
                    index,
                    symbol,
                    "refers to a variable that is in no section: compile the object with -fno-common");
        }
        if (!symbol.isInSection()) {
            throw invalid(function, index, symbol, "refers to a symbol that is in no section");
        }
        if (code.containsKey(symbol.sectionIndex())) {
            long bytes = symbol.value() + instruction.imm();
            requireInstructionStart(function, index, symbol, bytes);
            return new CodeReference.ToFunction(
                    index, symbol.sectionIndex(), slot(function, index, bytes / Instruction.SIZE));
        }
        if (jumpTables.isIn(symbol)) {
            return jumpTable(function, index, symbol, symbol.value() + instruction.imm());
        }
        MapSpec dataMap = dataBySection.get(symbol.sectionIndex());
        if (dataMap != null) {
            DataSection data = dataMap.data().orElseThrow();
            int offset = inside(function, index, symbol, symbol.value() + instruction.imm(), data);
            return new CodeReference.ToData(index, dataMap.name(), offset);
        }
        if (mapNames.contains(symbol.name()) && isMaps(symbol)) {
            return new CodeReference.ToMap(index, symbol.name());
        }
        throw invalid(
                function,
                index,
                symbol,
                "refers to a symbol that is neither a map nor a global variable nor a function: section \""
                        + file.elf.section(symbol.sectionIndex()).name() + "\"");
    }

    private int inside(FunctionSpec function, int index, Symbol symbol, long offset, DataSection data) {
        if (offset < 0 || offset > data.size()) {
            throw invalid(
                    function,
                    index,
                    symbol,
                    "refers to byte " + offset + " of \"" + data.name() + "\", which has " + data.size() + " bytes");
        }
        return (int) offset;
    }

    /** A jump stays in its function, because the verifier checks one function at a time. */
    private CodeReference jumpTable(FunctionSpec function, int index, Symbol symbol, long offset) {
        JumpTableReader.Table table = jumpTables.containing(offset);
        if (table.lowest() < function.slot() || table.highest() - function.slot() >= function.size()) {
            throw invalid(function, index, symbol, "refers to a jump table that leads out of the function");
        }
        return new CodeReference.ToJumpTable(index, table.start(), (int) (offset - table.start()), table.slots());
    }

    /** A static variable in another section may have a map's name. */
    private boolean isMaps(Symbol symbol) {
        String section = file.elf.section(symbol.sectionIndex()).name();
        return section.equals(MapReader.SECTION) || section.equals(LegacyMapReader.SECTION);
    }

    private void requireInstructionStart(FunctionSpec function, int index, Symbol symbol, long bytes) {
        if (bytes % Instruction.SIZE != 0) {
            throw invalid(
                    function, index, symbol, "refers to byte " + bytes + " of code, which is inside an instruction");
        }
    }

    private int slot(FunctionSpec function, int index, long target) {
        if (target < 0 || target > Integer.MAX_VALUE) {
            throw file.invalid("function \"" + function.name() + "\": instruction " + index + " refers to slot "
                    + target + ", out of range");
        }
        return (int) target;
    }

    private InvalidObjectException invalid(FunctionSpec function, int index, Symbol symbol, String problem) {
        return file.invalid("function \"" + function.name() + "\": instruction " + index + " (symbol \"" + symbol.name()
                + "\") " + problem);
    }
}
