package io.bpf4j.loader.dryrun;

import io.bpf4j.insn.Instruction;
import java.util.List;

/**
 * Whether a program fits a kernel. <i>Immutable.</i>
 *
 * @param program its name
 * @param sectionName as in {@code SEC("…")}
 * @param autoload false for a program that is not loaded by default: of {@code SEC("?…")}, or used by no struct_ops map
 *     that is created. It is checked, but does not decide whether the object fits
 * @param findings problems of the program; missing items count only if the program can reach them
 * @param relocations all its CO-RE relocations, those of the functions that it calls included
 * @param instructions relocated; an instruction that refers to a map has the map's index in the object plus 1 instead
 *     of its file descriptor. Empty if the program could not be relocated
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

    /** Whether no problem is known. The verifier may still refuse the program. */
    public boolean fits() {
        return findings.isEmpty();
    }
}
