package io.bpf4j.loader.internal.plan;

import io.bpf4j.loader.dryrun.Fit.Finding;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Computes the plan of a load. A step that fails is recorded as a problem, and the other steps continue without its
 * result: a load stops at the first problem, a dry run reports all problems. <i>Confined</i>; used once.
 *
 * <p>Tested by {@code LoadPlanTest}.
 */
final class Planner {
    private final ObjectSpec spec;
    private final LoadOptions options;
    private final TargetKernel kernel;
    private final Features features;
    private final MapContents contents;
    private final StructOpsImages structOps;
    private final Problems problems = new Problems();

    Planner(ObjectSpec spec, LoadOptions options, TargetKernel kernel) {
        this.spec = spec;
        this.options = options;
        this.kernel = kernel;
        this.features = kernel.features();
        this.contents = new MapContents(spec, options, kernel);
        this.structOps = new StructOpsImages(spec);
    }

    LoadPlan plan() {
        contents.check(this::isIncluded, problems);
        Optional<byte[]> btf = btf();
        List<MapPlan> maps = new ArrayList<>();
        Map<String, Integer> mapNumbers = new HashMap<>();
        for (int i = 0; i < spec.maps().size(); i++) {
            MapSpec map = spec.maps().get(i);
            if (contents.exists(map)) {
                problems.attempt(Finding.Kind.MAP, () -> map(map)).ifPresent(maps::add);
                mapNumbers.put(map.name(), i + 1);
            }
        }
        structOps.find(kernel, problems);
        ProgramAssembly assembly = new ProgramAssembly(
                spec,
                mapNumbers,
                starts(maps),
                new KernelSymbols(spec, kernel).resolve(problems),
                () -> options.targetBtf.orElseGet(kernel::types),
                features,
                btf.isPresent() && ObjectBtf.describesFunctions(spec, features));
        // All programs are placed before one is assembled: if they are too large together, none is assembled.
        List<Placed> placed = spec.programs().stream()
                .filter(this::isIncluded)
                .map(program -> place(program, assembly))
                .toList();
        List<ProgramPlan> programs =
                placed.stream().map(program -> program(program, assembly)).toList();
        return new LoadPlan(
                spec,
                kernelVersion(),
                options.pinDirectory,
                btf,
                maps.stream().map(map -> forItsProgram(map, programs)).toList(),
                structOps.all(),
                programs,
                assembly.relocated(),
                problems.found());
    }

    /** Where the variables in the arena begin, by its name. */
    private Map<String, Integer> starts(List<MapPlan> maps) {
        Host host = kernel.host();
        Map<String, Integer> starts = new HashMap<>();
        for (MapPlan map : maps) {
            Optional<DataSection> data = map.spec().data();
            if (host != null && data.isPresent() && map.spec().is(MapType.ARENA)) {
                BpfMap reused = map.reused();
                int pages = reused == null ? map.spec().maxEntries() : reused.maxEntries();
                starts.put(map.name(), ArenaVariables.start(pages, data.get().size(), features, host));
            }
        }
        return starts;
    }

    private boolean isIncluded(ProgramSpec program) {
        return options.allPrograms || structOps.isLoaded(program);
    }

    /** The object's types in the form that the kernel accepts; empty if the plan is not for the running kernel. */
    private Optional<byte[]> btf() {
        return kernel.host() == null || spec.btf().isEmpty() || features.lacks(Feature.BTF)
                ? Optional.empty()
                : problems.attempt(
                        Finding.Kind.OBJECT,
                        () -> ObjectBtf.loadable(spec, spec.btf().get(), features));
    }

    private MapPlan map(MapSpec map) {
        BpfMap reused = options.reused.get(map.name());
        if (reused != null) {
            return MapPlan.reuse(map, reused, spec.source());
        }
        if (map.isData() && features.support(Feature.GLOBAL_DATA) instanceof Support.Absent absent) {
            throw new UnsupportedFeatureException(
                    spec.source() + ": section " + map.name(), Feature.GLOBAL_DATA, absent.reason());
        }
        return MapPlan.of(map, contents.initial(map), spec.source(), options.objectName.orElse(spec.source()), kernel);
    }

    /** A map for one program only, with the hash of that program. */
    private MapPlan forItsProgram(MapPlan map, List<ProgramPlan> programs) {
        Optional<String> program = map.spec().exclusiveProgram();
        return map.reused() != null || program.isEmpty()
                ? map
                : problems.attempt(
                                Finding.Kind.MAP,
                                () -> ProgramHash.of(spec, map.spec(), program.get(), programs, options))
                        .map(map::forProgram)
                        .orElse(map);
    }

    /** A program whose functions have slots. */
    private record Placed(
            ProgramSpec program,
            Optional<AttachPoint> point,
            Optional<Map<FunctionSpec, Integer>> slots,
            Problems problems) {}

    private Placed place(ProgramSpec program, ProgramAssembly assembly) {
        Problems programProblems = new Problems();
        programProblems.attempt(Finding.Kind.PROGRAM, () -> requireKnownKind(program));
        Optional<AttachPoint> point = programProblems.attempt(
                Finding.Kind.TARGET,
                () -> program.type() == ProgramType.STRUCT_OPS
                        ? structOps.point(program)
                        : AttachPoint.of(program, kernel, options.targets.get(program.name())));
        Optional<Map<FunctionSpec, Integer>> slots =
                programProblems.attempt(Finding.Kind.RELOCATION, () -> assembly.functions.of(program));
        return new Placed(program, point, slots, programProblems);
    }

    private ProgramPlan program(Placed placed, ProgramAssembly assembly) {
        ProgramSpec program = placed.program();
        Optional<AssembledProgram> code = placed.slots()
                .filter(_ -> !assembly.functions.areTooLarge())
                .flatMap(slots -> placed.problems().attempt(Finding.Kind.RELOCATION, () -> assembly.assemble(slots)));
        return new ProgramPlan(
                program,
                structOps.isLoaded(program),
                options.attachType.apply(program, features),
                placed.point(),
                placed.slots().orElse(Map.of()),
                code,
                options.instructions.getOrDefault(program.name(), UnaryOperator.identity()),
                program.verifierLog().orElse(options.logLevel),
                placed.problems().found());
    }

    private void requireKnownKind(ProgramSpec program) {
        if (program.type() == ProgramType.UNSPEC) {
            throw new InvalidObjectException(
                    spec.source() + ": program \"" + program.name() + "\" is in SEC(\"" + program.sectionName()
                            + "\"), a section name without a known program type; skip the program, or rename its"
                            + " section");
        }
    }

    private int kernelVersion() {
        Host host = kernel.host();
        if (options.kernelVersion.isPresent()) {
            return options.kernelVersion.get().code();
        }
        return spec.version() != 0 || host == null
                ? spec.version()
                : host.version().code();
    }
}
