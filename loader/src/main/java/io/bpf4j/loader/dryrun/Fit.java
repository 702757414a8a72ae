package io.bpf4j.loader.dryrun;

import java.util.List;

/**
 * Whether an object fits a kernel. <i>Immutable.</i>
 *
 * @param source name of the object
 * @param kernel name of the kernel's BTF
 * @param findings what is in the way of the object as a whole: nothing of it would be loaded
 * @param programs its programs, in the order of the object
 */
public record Fit(String source, String kernel, List<Finding> findings, List<ProgramFit> programs) {
    public Fit {
        findings = List.copyOf(findings);
        programs = List.copyOf(programs);
    }

    /** Whether nothing is known to be in the way of the object and of the programs that it loads unasked. */
    public boolean fits() {
        return findings.isEmpty() && programs.stream().allMatch(p -> p.fits() || !p.autoload());
    }
}
