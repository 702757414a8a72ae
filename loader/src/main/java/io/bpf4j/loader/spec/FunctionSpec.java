package io.bpf4j.loader.spec;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instruction;
import java.util.ArrayList;
import java.util.List;

/** A function of an object: a program's entry, or a subprogram that programs call. <i>Immutable.</i> */
public sealed interface FunctionSpec permits FunctionSpecData {
    /** The name of its symbol. */
    String name();

    /** Index of its section in the file; 0 if it is not from a file. */
    int section();

    /** Name of its section; empty if it is not from a file. */
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

    /**
     * The id of its type in {@link ObjectSpec#btf()}, a {@code BtfType.Func}, if {@link #withType} has set it; else 0:
     * the types of a file's functions are in {@link ObjectSpec#btfExt()}.
     */
    int typeId();

    /**
     * A function that is not from a file, for {@link ObjectSpec#withProgram} and {@link ObjectSpec#withFunction}. The
     * maps and functions that its code names must be in the object when it is loaded.
     *
     * @throws IllegalArgumentException if the code has no instruction
     * @throws IllegalStateException if the code lacks a label that it jumps to
     */
    static FunctionSpec of(String name, Assembler code) {
        List<CodeReference> references = new ArrayList<>();
        code.mapReferences().forEach((at, map) -> references.add(new CodeReference.ToMap(at, map)));
        code.functionReferences()
                .forEach((at, function) -> references.add(new CodeReference.ToNamedFunction(at, function)));
        return new FunctionSpecData(name, 0, "", 0, false, true, requireSome(name, code.instructions()), references, 0);
    }

    private static List<Instruction> requireSome(String name, List<Instruction> body) {
        if (body.isEmpty()) {
            throw new IllegalArgumentException("function \"" + name + "\" needs at least one instruction");
        }
        return body;
    }

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
        return new FunctionSpecData(
                name(),
                section(),
                sectionName(),
                slot(),
                hidden(),
                true,
                requireSome(name(), body),
                List.of(),
                typeId());
    }

    /**
     * The same function with a type, which the kernel requires of a function whose address is passed to a helper. The
     * kernel takes the types of a program's functions only if all of them have one. A function that is called back has
     * static linkage; one with global linkage is verified by itself, for any arguments.
     *
     * @param id of a {@code BtfType.Func} in the object's BTF: {@link ObjectSpec#withBtf}
     */
    default FunctionSpec withType(int id) {
        return new FunctionSpecData(
                name(), section(), sectionName(), slot(), hidden(), replaced(), instructions(), references(), id);
    }

    /** Its size in 8-byte slots. */
    default int size() {
        return instructions().size();
    }
}
