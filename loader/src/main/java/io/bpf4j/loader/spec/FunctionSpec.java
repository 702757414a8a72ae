package io.bpf4j.loader.spec;

import io.bpf4j.insn.Instruction;
import java.util.List;

/**
 * A function of an object: a program's entry, or a subprogram that programs call. <i>Immutable.</i>
 *
 * @param name of its symbol
 * @param section index of its section in the file
 * @param sectionName name of its section
 * @param slot its offset in the section, in 8-byte slots
 * @param hidden whether its symbol is hidden ({@code __hidden}), so that no code outside of the object calls it
 * @param instructions one per slot, as in the file, before relocation
 * @param references the references of its instructions, by instruction
 */
public record FunctionSpec(
        String name,
        int section,
        String sectionName,
        int slot,
        boolean hidden,
        List<Instruction> instructions,
        List<CodeReference> references) {
    public FunctionSpec {
        instructions = List.copyOf(instructions);
        references = List.copyOf(references);
    }

    /** Whether it is in {@code .text}: called by programs, and not a program itself. */
    public boolean isSubprogram() {
        return sectionName.equals(ObjectReader.TEXT);
    }

    /** Its size in 8-byte slots. */
    public int size() {
        return instructions.size();
    }

    /**
     * Hashes only the function's place, because functions of thousands of instructions are keys of the loader's tables.
     */
    @Override
    public int hashCode() {
        return 31 * section + slot;
    }

    @Override
    public String toString() {
        return name + " in " + sectionName + ", " + size() + " instructions";
    }
}
