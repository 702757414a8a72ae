package io.bpf4j.loader.dryrun;

import io.bpf4j.insn.Instruction;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Whether an object fits a kernel. <i>Immutable.</i>
 *
 * <p>Tested by {@code DryRunTest}.
 *
 * @param source name of the object
 * @param kernel name of the kernel's BTF
 * @param findings problems of the object as a whole, which prevent loading any part of it
 * @param programs its programs, in the order of the object
 */
public record Fit(String source, String kernel, List<Finding> findings, List<Program> programs) {
    public Fit {
        findings = List.copyOf(findings);
        programs = List.copyOf(programs);
    }

    /** Whether no problem is known for the object and the programs that it loads by default. */
    public boolean fits() {
        return findings.isEmpty() && programs.stream().allMatch(p -> p.fits() || !p.autoload());
    }

    /**
     * Whether a program fits a kernel. <i>Immutable.</i>
     *
     * @param program its name
     * @param sectionName as in {@code SEC("…")}
     * @param autoload false for a program that is not loaded by default: of {@code SEC("?…")}, or used by no struct_ops
     *     map that is created. It is checked, but does not decide whether the object fits
     * @param findings problems of the program; missing items count only if the program can reach them
     * @param relocations all its CO-RE relocations, those of the functions that it calls included
     * @param instructions relocated; an instruction that refers to a map has the map's index in the object plus 1
     *     instead of its file descriptor. Empty if the program could not be relocated
     */
    public record Program(
            String program,
            String sectionName,
            boolean autoload,
            List<Finding> findings,
            List<Relocation> relocations,
            List<Instruction> instructions) {
        public Program {
            findings = List.copyOf(findings);
            relocations = List.copyOf(relocations);
            instructions = List.copyOf(instructions);
        }

        /** Whether no problem is known. The verifier may still refuse the program. */
        public boolean fits() {
            return findings.isEmpty();
        }
    }

    /**
     * A requirement of an object that a kernel lacks. <i>Immutable.</i>
     *
     * @param kind the kind of requirement
     * @param location the instruction, with its source line if the object has it; empty if the finding does not concern
     *     one
     * @param problem description of what is missing
     */
    public record Finding(Kind kind, Optional<Location> location, String problem) {
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
            /** A map type, or a map definition that every kernel refuses. */
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
        public record Location(String function, int instruction, String source) {
            @Override
            public String toString() {
                String slot = "instruction " + instruction + " of " + function;
                return source.isEmpty() ? slot : slot + " (" + source + ")";
            }
        }

        @Override
        public String toString() {
            return location.map(p -> p + ": ").orElse("") + problem;
        }
    }

    /**
     * The result of one CO-RE relocation. <i>Immutable.</i>
     *
     * @param location the instruction
     * @param question the property and its subject: {@code byte offset of struct task_struct.mm}
     * @param local the value for the types of the object; empty if the kernel lacks the subject
     * @param target the value for the types of the kernel; empty if the kernel lacks the subject
     */
    public record Relocation(Finding.Location location, String question, OptionalLong local, OptionalLong target) {
        /** Whether the kernel has the subject, or the relocation asks for its existence. */
        public boolean isResolved() {
            return target.isPresent();
        }

        @Override
        public String toString() {
            if (target.isEmpty()) {
                return question + ": missing";
            }
            return local.equals(target)
                    ? question + ": " + target.getAsLong() + ", as compiled"
                    : question + ": " + target.getAsLong() + " instead of " + local.orElseThrow();
        }
    }
}
