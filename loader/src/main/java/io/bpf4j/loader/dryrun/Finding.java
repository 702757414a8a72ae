package io.bpf4j.loader.dryrun;

import java.util.Optional;

/**
 * A requirement of an object that a kernel lacks. <i>Immutable.</i>
 *
 * @param kind the kind of requirement
 * @param place the instruction, with its source line if the object has it; empty if the finding does not concern one
 * @param problem description of what is missing
 */
public record Finding(Kind kind, Optional<Place> place, String problem) {
    /** The kind of requirement that is missing. */
    public enum Kind {
        /** The object as a whole does not fit this kernel: another byte order. */
        OBJECT,
        /** A CO-RE relocation: a type, a member, an enumerator. */
        RELOCATION,
        /** A variable or a function of the kernel. */
        SYMBOL,
        /** A helper. */
        HELPER,
        /** A map type. */
        MAP,
        /** A program type, or an attach type. */
        PROGRAM,
        /** The target of a program: a function, a tracepoint, a hook. */
        TARGET,
        /** A struct_ops struct. */
        STRUCT_OPS
    }

    /**
     * An instruction.
     *
     * @param function that it is in
     * @param instruction from the start of the function, in 8-byte slots
     * @param source {@code file:line: text}; empty if the object has no line information
     */
    public record Place(String function, int instruction, String source) {
        @Override
        public String toString() {
            String slot = "instruction " + instruction + " of " + function;
            return source.isEmpty() ? slot : slot + " (" + source + ")";
        }
    }

    @Override
    public String toString() {
        return place.map(p -> p + ": ").orElse("") + problem;
    }
}
