package io.bpf4j.loader.link;

/**
 * A global function of another program, which this program replaces (Linux 5.10); {@code SEC("freplace")}. The
 * function must have the same signature as the function that this program was loaded for.
 */
public sealed interface Freplace extends AttachTarget {
    /**
     * A function of a program.
     *
     * @param program still belongs to its owner
     */
    static Freplace of(ProgramHandle program, String function) {
        return new FreplaceData(program, function);
    }

    ProgramHandle program();

    String function();
}

record FreplaceData(ProgramHandle program, String function) implements Freplace {
    @Override
    public String description() {
        return "function " + function + " of program " + program.name();
    }
}
