package io.bpf4j.loader.spec;

import io.bpf4j.insn.Instruction;
import java.util.List;

/** A function of an object: a program's entry, or a subprogram that programs call. <i>Immutable.</i> */
public sealed interface FunctionSpec permits FunctionSpecData {
    /** The name of its symbol. */
    String name();

    /** Index of its section in the file. */
    int section();

    /** Name of its section. */
    String sectionName();

    /** Its offset in the section, in 8-byte slots. */
    int slot();

    /** Whether its symbol is hidden ({@code __hidden}), so that no code outside of the object calls it. */
    boolean hidden();

    /** Its instructions, one per slot, as in the file, before relocation. */
    List<Instruction> instructions();

    /** The references of its instructions, by instruction. */
    List<CodeReference> references();

    /** Whether it is in {@code .text}: called by programs, and not a program itself. */
    default boolean isSubprogram() {
        return sectionName().equals(ObjectReader.TEXT);
    }

    /** Its size in 8-byte slots. */
    default int size() {
        return instructions().size();
    }
}
