package io.bpf4j.loader.spec;

import io.bpf4j.insn.Instruction;
import java.util.List;

/** The only implementation of {@link FunctionSpec}. */
record FunctionSpecData(
        String name,
        int section,
        String sectionName,
        int slot,
        boolean hidden,
        boolean replaced,
        List<Instruction> instructions,
        List<CodeReference> references,
        int typeId)
        implements FunctionSpec {
    FunctionSpecData {
        instructions = List.copyOf(instructions);
        references = List.copyOf(references);
    }

    FunctionSpecData withReferences(List<CodeReference> read) {
        return new FunctionSpecData(name, section, sectionName, slot, hidden, replaced, instructions, read, typeId);
    }

    /**
     * Hashes only the function's place and name, because functions of thousands of instructions are keys of the loader's
     * tables. Aliases have the same place.
     */
    @Override
    public int hashCode() {
        return 31 * (31 * section + slot) + name.hashCode();
    }

    @Override
    public String toString() {
        return name + " in " + sectionName + ", " + size() + " instructions";
    }
}
