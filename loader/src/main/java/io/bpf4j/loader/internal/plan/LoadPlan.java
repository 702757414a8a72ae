package io.bpf4j.loader.internal.plan;

import io.bpf4j.elf.Bpf4jException;
import io.bpf4j.loader.dryrun.Fit.Finding;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The steps of a load, computed before the first system call of the load. <i>Immutable.</i>
 *
 * @param spec the object as the embedder edited it
 * @param kernelVersion the version to report to old kernels, as {@code LINUX_VERSION_CODE}
 * @param pinDirectory the directory of maps that are pinned by name; empty for the default
 * @param btf the object's types in the form that the kernel accepts; empty if it accepts none, or is not the running
 *     kernel
 * @param maps maps to create, to open by pin or to reuse, in the order of the object
 * @param structOps struct_ops variables to register
 * @param programs programs to load, in the order of the object
 * @param functions of these programs, with their CO-RE relocations
 * @param problems problems of the object as a whole
 */
public record LoadPlan(
        ObjectSpec spec,
        int kernelVersion,
        Optional<Path> pinDirectory,
        Optional<byte[]> btf,
        List<MapPlan> maps,
        List<StructOpsImage> structOps,
        List<ProgramPlan> programs,
        Map<FunctionSpec, ProgramAssembly.Relocated> functions,
        List<Problem> problems) {
    /** A problem that prevents a load. */
    public record Problem(Finding.Kind kind, Bpf4jException failure) {}

    /** The plan of a load: the same object, options and kernel give the same plan. */
    public static LoadPlan of(ObjectSpec spec, LoadOptions options, TargetKernel kernel) {
        return new Planner(spec, options, kernel).plan();
    }

    /** Throws the first problem, if any. */
    public void requireNoProblems() {
        Stream.concat(problems.stream(), programs.stream().flatMap(program -> program.problems().stream()))
                .findFirst()
                .ifPresent(problem -> {
                    throw problem.failure();
                });
    }
}
