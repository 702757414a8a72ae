package io.bpf4j.loader.dryrun;

import java.util.List;

/**
 * Whether an object fits a kernel. <i>Immutable.</i>
 *
 * @param source name of the object
 * @param kernel name of the kernel's BTF
 * @param findings problems of the object as a whole, which prevent loading any part of it
 * @param programs its programs, in the order of the object
 */
public record Fit(String source, String kernel, List<Finding> findings, List<ProgramFit> programs) {
    public Fit {
        findings = List.copyOf(findings);
        programs = List.copyOf(programs);
    }

    /** Whether no problem is known for the object and the programs that it loads by default. */
    public boolean fits() {
        return findings.isEmpty() && programs.stream().allMatch(p -> p.fits() || !p.autoload());
    }
}
