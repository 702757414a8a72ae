package io.bpf4j.loader.dryrun;

import io.bpf4j.insn.Instruction;
import java.util.List;

/**
 * Whether a program fits a kernel. <i>Immutable.</i>
 *
 * @param program its name
 * @param sectionName as in {@code SEC("…")}
 * @param autoload false for one that is loaded only if asked for, as of {@code SEC("?…")}, or that no struct of functions
 *     calls which is made: it is looked at, and the object does not depend on it
 * @param findings what is in the way; of what the kernel lacks only what the program comes to
 * @param relocations all its CO-RE relocations, those of the functions that it calls included
 * @param instructions relocated; where an instruction refers to a map, the map's index in the object plus 1 is in place
 *     of its descriptor. Empty if the program could not be relocated
 */
public record ProgramFit(
        String program,
        String sectionName,
        boolean autoload,
        List<Finding> findings,
        List<Relocation> relocations,
        List<Instruction> instructions) {
    public ProgramFit {
        findings = List.copyOf(findings);
        relocations = List.copyOf(relocations);
        instructions = List.copyOf(instructions);
    }

    /** Whether nothing is known to be in the way. The verifier has the last word. */
    public boolean fits() {
        return findings.isEmpty();
    }
}
