package io.bpf4j.loader;

import io.bpf4j.btf.Btf;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.loader.dryrun.Fit;
import io.bpf4j.loader.internal.dryrun.DryRunJudgement;
import io.bpf4j.loader.spec.ObjectSpec;

/**
 * Relocates an object against the types of a kernel that need not be there, and tells what that kernel would lack.
 *
 * {@snippet :
 * ObjectSpec object = ObjectSpec.read(Path.of("tool.bpf.o"));
 * BtfFile.forEach(Path.of("btfhub-archive/ubuntu"), (name, btf) -> {
 *     Fit fit = DryRun.of(object, btf);
 *     System.out.println(name + (fit.fits() ? " fits" : " does not fit"));
 * });
 * }
 *
 * <p>What a kernel's BTF tells: types and their members; enumerators, and by these the helpers, the types of maps, of
 * programs and of attachments; functions that are called, traced or replaced, in modules as far as their BTF is given. A
 * missing thing counts if the program comes to it: what {@code bpf_core_field_exists} and the like rule out, and constants
 * in {@code .rodata} as the object has them, does not.
 *
 * <p>What an embedder changes before the load can be changed here, too: {@link ObjectSpec#withPrograms} and {@link
 * ObjectSpec#withMaps} give an object with other targets, or without a map.
 *
 * <p>What it doesn't tell: what the verifier thinks of a program, which changes from kernel to kernel; options of
 * kconfig; symbols without type; kprobes, tracepoints and everything else that is named when a program is attached. So
 * "does not fit" is sure, and "fits" is probable.
 */
public final class DryRun {
    private DryRun() {}

    /** Against a kernel without modules. */
    public static Fit of(ObjectSpec object, Btf kernel) {
        return of(object, CoreTarget.of(kernel));
    }

    /** Against a kernel with modules. */
    public static Fit of(ObjectSpec object, CoreTarget kernel) {
        return DryRunJudgement.of(object, kernel);
    }
}
