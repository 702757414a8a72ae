package io.bpf4j.loader.dryrun;

import java.util.Optional;

/**
 * Something that an object needs and a kernel lacks. <i>Immutable.</i>
 *
 * @param kind what sort of thing
 * @param place where in the object: the instruction, and the source line if the object tells it; empty if it is not about
 *     one
 * @param problem what is missing, in words
 */
public record Finding(Kind kind, Optional<Place> place, String problem) {
    /** What sort of thing is missing. */
    public enum Kind {
        /** The object as a whole can't be for this kernel: another byte order. */
        OBJECT,
        /** A CO-RE relocation: a type, a member, an enumerator. */
        RELOCATION,
        /** A variable or a function of the kernel. */
        SYMBOL,
        /** A helper. */
        HELPER,
        /** A type of map. */
        MAP,
        /** A type of program, or of attachment. */
        PROGRAM,
        /** What a program attaches to: a function, a tracepoint, a hook. */
        TARGET,
        /** A struct of functions that the kernel calls. */
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
