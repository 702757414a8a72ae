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

    /** Whether its symbol is hidden ({@code __hidden}), so that no code outside the object calls it. */
    boolean hidden();

    /** Whether its instructions are not those of the file: see {@link #withInstructions}. */
    boolean replaced();

    /** Its instructions, one per slot, before relocation. */
    List<Instruction> instructions();

    /** The references of its instructions, by instruction. */
    List<CodeReference> references();

    /** Whether it is in {@code .text}: called by programs, and not a program itself. */
    default boolean isSubprogram() {
        return sectionName().equals(ObjectReader.TEXT);
    }

    /**
     * The same function with another body, for instance one that was generated at run time. The new body refers to
     * nothing outside it: it uses only its arguments, and calls helpers by number. The verifier's log and messages show
     * the line of the function's first instruction for all of them, and CO-RE relocations of the old body don't apply.
     */
    default FunctionSpec withInstructions(List<Instruction> body) {
        if (body.isEmpty()) {
            throw new IllegalArgumentException("function \"" + name() + "\" needs at least one instruction");
        }
        return new FunctionSpecData(name(), section(), sectionName(), slot(), hidden(), true, body, List.of());
    }

    /** Its size in 8-byte slots. */
    default int size() {
        return instructions().size();
    }
}
