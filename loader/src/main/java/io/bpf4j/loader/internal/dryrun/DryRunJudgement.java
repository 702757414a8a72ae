package io.bpf4j.loader.internal.dryrun;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.core.CoreFixup;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.insn.Helper;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.dryrun.Fit;
import io.bpf4j.loader.dryrun.Fit.Finding;
import io.bpf4j.loader.dryrun.Fit.Relocation;
import io.bpf4j.loader.internal.plan.AssembledProgram;
import io.bpf4j.loader.internal.plan.FunctionRecords;
import io.bpf4j.loader.internal.plan.LoadOptions;
import io.bpf4j.loader.internal.plan.LoadPlan;
import io.bpf4j.loader.internal.plan.MapAttributes;
import io.bpf4j.loader.internal.plan.MapPlan;
import io.bpf4j.loader.internal.plan.OldKernelHelpers;
import io.bpf4j.loader.internal.plan.ProgramAssembly;
import io.bpf4j.loader.internal.plan.ProgramAssembly.Relocated;
import io.bpf4j.loader.internal.plan.ProgramPlan;
import io.bpf4j.loader.internal.plan.TargetKernel;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.internal.linux.Kallsyms;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks the plan of a load against the types of its target kernel, and reports what that kernel lacks.
 * <i>Confined</i>; used once.
 *
 * <p>Tested by {@code DryRunTest}.
 */
public final class DryRunJudgement {
    private final ObjectSpec spec;
    private final LoadPlan plan;
    private final Btf kernel;
    private final Map<String, Map<Long, String>> namesByEnum = new HashMap<>();
    private final FunctionRecords lines;
    private final ReadOnlyData readOnlyData;
    private final Set<String> weak = new HashSet<>();

    /** The texts of relocations, which programs with the same function share. */
    private final IdentityHashMap<ProgramAssembly.Outcome, String> questions = new IdentityHashMap<>();

    private DryRunJudgement(LoadPlan plan, Btf kernel) {
        this.spec = plan.spec();
        this.plan = plan;
        this.kernel = kernel;
        this.readOnlyData = ReadOnlyData.of(plan);
        spec.externs().stream().filter(ExternSpec::weak).forEach(extern -> weak.add(extern.name()));
        this.lines = new FunctionRecords(spec);
    }

    /** For every program of an object, also programs that are loaded only on request. */
    public static Fit of(ObjectSpec spec, CoreTarget target) {
        return of(spec, target, null);
    }

    /**
     * Judges also symbols without a type.
     *
     * @param symbols of the same kernel as the types; null if they are not known
     */
    public static Fit of(ObjectSpec spec, CoreTarget target, @Nullable Kallsyms symbols) {
        Btf kernel = target.kernel();
        if (spec.order() != kernel.order()) {
            Finding finding = finding(
                    Finding.Kind.OBJECT, "the object is " + spec.order() + ", and the kernel's BTF " + kernel.order());
            return new Fit(spec.source(), kernel.source(), List.of(finding), List.of());
        }
        LoadOptions options = new LoadOptions();
        options.allPrograms = true;
        LoadPlan plan = LoadPlan.of(spec, options, TargetKernel.ofTypes(target, symbols));
        DryRunJudgement judgement = new DryRunJudgement(plan, kernel);
        return new Fit(
                spec.source(),
                kernel.source(),
                judgement.object(),
                plan.programs().stream().map(judgement::program).toList());
    }

    private List<Finding> object() {
        List<Finding> findings = new ArrayList<>();
        for (MapPlan map : plan.maps()) {
            if (!has("bpf_map_type", map.spec().typeNumber())) {
                findings.add(finding(
                        Finding.Kind.MAP,
                        "map \"" + map.name() + "\": the kernel has no maps of type "
                                + map.spec()
                                        .type()
                                        .map(Enum::name)
                                        .orElseGet(() -> "number " + map.spec().typeNumber())));
            }
            MapAttributes.refusal(map.spec())
                    .ifPresent(problem ->
                            findings.add(finding(Finding.Kind.MAP, "map \"" + map.name() + "\" " + problem)));
        }
        plan.problems().forEach(problem -> findings.add(finding(problem)));
        return findings;
    }

    private Finding finding(LoadPlan.Problem problem) {
        return finding(problem.kind(), bare(problem.failure()));
    }

    /** One that is of no instruction. */
    private static Finding finding(Finding.Kind kind, String problem) {
        return new Finding(kind, Optional.empty(), problem);
    }

    private Fit.Program program(ProgramPlan program) {
        List<Finding> own = new ArrayList<>();
        checkKind(program.spec(), own);
        program.problems().stream()
                .filter(problem -> isFinding(problem, program))
                .forEach(problem -> own.add(finding(problem)));
        program.code().ifPresent(code -> checkCode(code, program.slots(), own));
        return new Fit.Program(
                program.name(),
                program.spec().sectionName(),
                program.autoload(),
                own,
                relocations(program.slots()),
                program.code().map(AssembledProgram::instructions).orElse(List.of()));
    }

    /**
     * Whether a problem is reported. Exceptions: the program whose function is replaced is unknown here, and a
     * struct_ops program without a struct is not loaded. Program types are checked by {@link #checkKind}.
     */
    private static boolean isFinding(LoadPlan.Problem problem, ProgramPlan program) {
        return switch (problem.kind()) {
            case PROGRAM -> false;
            case TARGET ->
                program.spec().type() != ProgramType.EXT
                        && (program.spec().type() != ProgramType.STRUCT_OPS || program.autoload());
            case OBJECT, RELOCATION, SYMBOL, HELPER, MAP, STRUCT_OPS -> true;
        };
    }

    private void checkKind(ProgramSpec program, List<Finding> own) {
        ProgramType type = program.type();
        Optional<AttachType> attachType = program.attachType();
        String problem = null;
        if (type == ProgramType.UNSPEC) {
            problem = "SEC(\"" + program.sectionName() + "\") is not a known section name, so the program has no type";
        } else if (!has("bpf_prog_type", type.number())) {
            problem = "the kernel has no programs of type " + type;
        } else if (attachType.isPresent()
                && !has("bpf_attach_type", attachType.get().number())) {
            problem = "the kernel has no attach type " + attachType.get();
        }
        if (problem != null) {
            own.add(finding(Finding.Kind.PROGRAM, problem));
        }
    }

    private void checkCode(AssembledProgram assembled, Map<FunctionSpec, Integer> slots, List<Finding> own) {
        List<Instruction> code = assembled.instructions();
        if (!assembled.jumpTables().isEmpty() && !has("bpf_map_type", MapType.INSN_ARRAY.number())) {
            own.add(finding(Finding.Kind.MAP, "the kernel has no maps of type INSN_ARRAY, for jump tables"));
        }
        BitSet reached = surelyReached(assembled);
        NavigableMap<Integer, FunctionSpec> bySlot = FunctionRecords.bySlot(slots);
        BitSet poisons = new BitSet();
        for (AssembledProgram.Poisoned poisoned : assembled.poisoned()) {
            int slot = poisoned.slot();
            if (!reached.get(slot) || poisons.get(slot)) {
                continue;
            }
            poisons.set(slot);
            Optional<Finding.Location> location = lines.at(bySlot, slot);
            switch (poisoned.kind()) {
                case RELOCATION -> own.add(new Finding(Finding.Kind.RELOCATION, location, poisoned.subject()));
                case FUNCTION -> {
                    // A function that is not weak is reported once for the object, not at each call.
                    if (weak.contains(poisoned.subject())) {
                        String problem = "the kernel has no function " + poisoned.subject();
                        own.add(new Finding(Finding.Kind.SYMBOL, location, problem));
                    }
                }
                case MAP ->
                    own.add(new Finding(Finding.Kind.MAP, location, "map \"" + poisoned.subject() + "\" was left out"));
            }
        }
        for (int slot = reached.nextSetBit(0); slot >= 0; slot = reached.nextSetBit(slot + 1)) {
            Instruction instruction = code.get(slot);
            if (instruction.isHelperCall()
                    && !poisons.get(slot)
                    && !has("bpf_func_id", instruction.imm())
                    && !OldKernelHelpers.hasReplacement(instruction.imm())) {
                own.add(new Finding(
                        Finding.Kind.HELPER,
                        lines.at(bySlot, slot),
                        "the kernel has no helper " + new Helper(instruction.imm()).name()));
            }
        }
    }

    /** For all values of kconfig options. */
    private BitSet surelyReached(AssembledProgram program) {
        List<Instruction> code = program.instructions();
        BitSet jumps = new BitSet();
        program.jumpTables().forEach(targets -> targets.forEach(jumps::set));
        BitSet reached = Reachability.of(code, jumps, readOnlyData, true);
        reached.and(Reachability.of(code, jumps, readOnlyData, false));
        return reached;
    }

    /**
     * Whether an enumeration of the kernel's uapi header, such as {@code bpf_map_type}, has a number. Reduced BTF may
     * lack the enumeration; then all numbers are assumed to be known. The last value of each is the count, whose name
     * begins with two underscores.
     */
    private boolean has(String enumeration, long number) {
        Map<Long, String> known = namesByEnum.computeIfAbsent(enumeration, this::names);
        return known.isEmpty() || !known.getOrDefault(number, "__").startsWith("__");
    }

    private Map<Long, String> names(String enumeration) {
        Map<Long, String> names = new HashMap<>();
        OptionalInt id = kernel.find(enumeration, BtfKind.ENUM);
        if (id.isPresent() && kernel.type(id.getAsInt()) instanceof BtfType.Enumeration found) {
            found.values().forEach(value -> names.putIfAbsent(value.value(), value.name()));
        }
        return names;
    }

    private List<Relocation> relocations(Map<FunctionSpec, Integer> slots) {
        List<Relocation> all = new ArrayList<>();
        for (FunctionSpec function : slots.keySet()) {
            for (ProgramAssembly.Outcome outcome :
                    plan.functions().getOrDefault(function, Relocated.NONE).outcomes()) {
                Finding.Location location = lines.at(function, outcome.slot());
                String question = questions.computeIfAbsent(outcome, known -> spec.describe(known.relocation()));
                all.add(
                        switch (outcome.fixup()) {
                            case CoreFixup.Keep keep ->
                                new Relocation(
                                        location,
                                        question,
                                        OptionalLong.of(keep.value()),
                                        OptionalLong.of(keep.value()));
                            case CoreFixup.Patch patch ->
                                new Relocation(
                                        location, question, OptionalLong.of(patch.from()), OptionalLong.of(patch.to()));
                            case CoreFixup.Poison _ ->
                                new Relocation(location, question, OptionalLong.empty(), OptionalLong.empty());
                        });
            }
        }
        return all;
    }

    /** The message without the object's name, which the reader of a finding knows. */
    private String bare(RuntimeException e) {
        String message = Objects.requireNonNullElse(e.getMessage(), e.toString());
        String prefix = spec.source() + ": ";
        return message.startsWith(prefix) ? message.substring(prefix.length()) : message;
    }
}
