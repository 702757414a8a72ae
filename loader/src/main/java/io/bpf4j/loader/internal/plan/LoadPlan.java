package io.bpf4j.loader.internal.plan;

import io.bpf4j.loader.dryrun.Finding;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What a load of an object does, worked out before the kernel is asked for anything. <i>Immutable.</i>
 *
 * @param spec the object as the embedder edited it
 * @param kernelVersion to tell old kernels, as {@code LINUX_VERSION_CODE}
 * @param pinDirectory where maps that ask to be pinned by name go; empty for the usual place
 * @param btf the object's types as the kernel takes them; empty if it takes none, or runs elsewhere
 * @param maps those that are made, found or given, in the order of the object
 * @param structOps what the kernel is to call
 * @param programs those that are loaded, in the order of the object
 * @param relocations what became of the CO-RE relocations of each function in these
 * @param problems what is in the way of the object as a whole
 */
public record LoadPlan(
        ObjectSpec spec,
        int kernelVersion,
        Optional<Path> pinDirectory,
        Optional<byte[]> btf,
        List<MapPlan> maps,
        List<StructOpsImage> structOps,
        List<ProgramPlan> programs,
        Map<FunctionSpec, List<ProgramAssembly.Outcome>> relocations,
        List<Problem> problems) {
    /**
     * What is in the way of a load.
     *
     * @param failure a BpfException, or one of what the object was read and relocated with
     */
    public record Problem(Finding.Kind kind, RuntimeException failure) {}

    /** The plan of a load: the same object, options and kernel give the same plan. */
    public static LoadPlan of(ObjectSpec spec, LoadOptions options, TargetKernel kernel) {
        return new Planner(spec, options, kernel).plan();
    }

    /** Throws the first of all problems, if there are some. */
    public void requireSound() {
        Stream.concat(problems.stream(), programs.stream().flatMap(program -> program.problems().stream()))
                .findFirst()
                .ifPresent(problem -> {
                    throw problem.failure();
                });
    }
}
