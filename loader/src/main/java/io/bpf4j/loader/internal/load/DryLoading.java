package io.bpf4j.loader.internal.load;

import io.bpf4j.btf.Btf;
import io.bpf4j.core.CoreException;
import io.bpf4j.core.CoreFixup;
import io.bpf4j.core.CoreRelocator;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.insn.Helpers;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.dryrun.Finding;
import io.bpf4j.loader.dryrun.Fit;
import io.bpf4j.loader.dryrun.ProgramFit;
import io.bpf4j.loader.dryrun.Relocation;
import io.bpf4j.loader.error.BpfException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.MapType;
import io.bpf4j.loader.kernel.ProgramType;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.StructOpsSpec;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/**
 * What {@link ObjectLoading} does up to the point where a kernel is needed, with the types of one that isn't there.
 * Where a load ends at the first failure, this goes on and collects them. <i>Confined</i>; used once.
 */
public final class DryLoading {
    private final ObjectSpec spec;
    private final CoreTarget target;
    private final Btf kernel;
    private final KernelVocabulary vocabulary;
    private final SourceLines lines;
    private final KernelModules modules;
    private final ReadOnlyData readOnlyData;
    private final List<Finding> findings = new ArrayList<>();
    private final Map<String, Integer> mapNumbers = new HashMap<>();
    private final Set<String> strong = new HashSet<>();

    public DryLoading(ObjectSpec spec, CoreTarget target) {
        this.spec = spec;
        this.target = target;
        this.kernel = target.kernel();
        this.vocabulary = new KernelVocabulary(kernel);
        this.modules = KernelModules.withoutKernel(() -> target);
        this.readOnlyData = new ReadOnlyData(spec);
        for (int i = 0; i < spec.maps().size(); i++) {
            if (spec.maps().get(i).autocreate()) {
                mapNumbers.put(spec.maps().get(i).name(), i + 1);
            }
        }
        spec.externs().stream().filter(extern -> !extern.weak()).forEach(extern -> strong.add(extern.name()));
        this.lines = new SourceLines(spec);
    }

    public Fit run() {
        if (spec.order() != kernel.order()) {
            add(Finding.Kind.OBJECT, "the object is " + spec.order() + ", and the kernel's BTF " + kernel.order());
            return new Fit(spec.source(), kernel.source(), findings, List.of());
        }
        checkMaps();
        Map<String, KernelSymbols.Resolved> symbols = symbols();
        StructOpsImages structOps = structOps();
        ProgramAssembly assembly =
                new ProgramAssembly(spec, this::mapNumber, symbols, () -> target, modules::descriptor, false);
        List<ProgramFit> programs = new ArrayList<>();
        for (ProgramSpec program : spec.programs()) {
            programs.add(program(program, assembly, structOps));
        }
        return new Fit(spec.source(), kernel.source(), findings, programs);
    }

    private void add(Finding.Kind kind, String problem) {
        findings.add(new Finding(kind, Optional.empty(), problem));
    }

    private void checkMaps() {
        for (MapSpec map : spec.maps()) {
            if (map.autocreate() && !vocabulary.hasMapType(map.typeNumber())) {
                add(
                        Finding.Kind.MAP,
                        "map \"" + map.name() + "\": the kernel has no maps of type "
                                + map.type().map(Enum::name).orElseGet(() -> "number " + map.typeNumber()));
            }
        }
    }

    private Map<String, KernelSymbols.Resolved> symbols() {
        KernelSymbols lookup = new KernelSymbols(spec, () -> target, modules, Host.running().symbols());
        Map<String, KernelSymbols.Resolved> resolved = new HashMap<>();
        for (ExternSpec extern : spec.externs()) {
            try {
                // Of a module or not: descriptors are for kernels.
                lookup.typed(extern)
                        .ifPresent(symbol -> resolved.put(
                                extern.name(), new KernelSymbols.Resolved(extern, symbol.address(), symbol.btfId())));
            } catch (BpfException e) {
                add(Finding.Kind.SYMBOL, bare(e));
                resolved.put(extern.name(), new KernelSymbols.Resolved(extern, 0, 0));
            }
            // Whether a symbol without type is there is in no BTF; most likely it is.
            resolved.putIfAbsent(extern.name(), new KernelSymbols.Resolved(extern, 1, 0));
        }
        return resolved;
    }

    private StructOpsImages structOps() {
        StructOpsImages images = new StructOpsImages(spec, Map.of());
        for (StructOpsSpec variable : spec.structOps()) {
            if (variable.autocreate()) {
                try {
                    images.find(variable, () -> target, modules);
                } catch (BpfException e) {
                    add(Finding.Kind.STRUCT_OPS, bare(e));
                }
            }
        }
        return images;
    }

    /** The index of a map plus 1, so that none has the number that stands for nothing. */
    private OptionalInt mapNumber(String name, Set<io.bpf4j.loader.internal.sys.Fd> mentioned) {
        Integer number = mapNumbers.get(name);
        return number == null ? OptionalInt.empty() : OptionalInt.of(number);
    }

    private ProgramFit program(ProgramSpec program, ProgramAssembly assembly, StructOpsImages structOps) {
        List<Finding> own = new ArrayList<>();
        Map<FunctionSpec, Integer> places = new LinkedHashMap<>();
        List<Instruction> code = List.of();
        checkKind(program, own);
        checkTarget(program, structOps, own);
        try {
            places.putAll(assembly.places(program));
            AssembledProgram assembled = assembly.assemble(program, places);
            code = assembled.instructions();
            checkCode(assembled, places, own);
        } catch (CoreException | BpfException | MalformedDataException e) {
            own.add(new Finding(Finding.Kind.RELOCATION, Optional.empty(), bare(e)));
        }
        return new ProgramFit(
                program.name(),
                program.sectionName(),
                structOps.loadsByItself(program),
                own,
                relocations(places, assembly),
                code);
    }

    private void checkKind(ProgramSpec program, List<Finding> own) {
        ProgramType type = program.type();
        Optional<AttachType> attachType = program.attachType();
        String problem = null;
        if (type == ProgramType.UNSPEC) {
            problem = "SEC(\"" + program.sectionName() + "\") says no program type";
        } else if (!vocabulary.hasProgramType(type.number())) {
            problem = "the kernel has no programs of type " + type;
        } else if (attachType.isPresent()
                && !vocabulary.hasAttachType(attachType.get().number())) {
            problem = "the kernel has no attach type " + attachType.get();
        }
        if (problem != null) {
            own.add(new Finding(Finding.Kind.PROGRAM, Optional.empty(), problem));
        }
    }

    /** What the code of a program is loaded for. A program whose function is to be replaced is unknown here. */
    private void checkTarget(ProgramSpec program, StructOpsImages structOps, List<Finding> own) {
        try {
            switch (program.type()) {
                case TRACING, LSM -> {
                    if (!AttachPoint.isForMany(program)) {
                        AttachPoint.find(program, () -> target, modules);
                    } else if (!AttachPoint.moduleOf(program).isEmpty()) {
                        AttachPoint.requireModule(program, AttachPoint.moduleOf(program), modules);
                    }
                }
                case STRUCT_OPS -> {
                    if (structOps.loadsByItself(program)) {
                        structOps.served(program);
                    }
                }
                default -> {}
            }
        } catch (BpfException e) {
            own.add(new Finding(Finding.Kind.TARGET, Optional.empty(), bare(e)));
        }
    }

    private void checkCode(AssembledProgram assembled, Map<FunctionSpec, Integer> places, List<Finding> own) {
        List<Instruction> code = assembled.instructions();
        if (!assembled.jumpTables().isEmpty() && !vocabulary.hasMapType(MapType.INSN_ARRAY.number())) {
            own.add(new Finding(
                    Finding.Kind.MAP, Optional.empty(), "the kernel has no maps of type INSN_ARRAY, for jump tables"));
        }
        BitSet reached = surelyReached(assembled);
        NavigableMap<Integer, FunctionSpec> bySlot = SourceLines.bySlot(places);
        BitSet poisons = new BitSet();
        for (AssembledProgram.Poisoned poisoned : assembled.poisoned()) {
            // What the object can't do without is told once, and not at each call.
            boolean told = poisoned.kind() == AssembledProgram.Poisoned.Kind.FUNCTION && !isWeak(poisoned.what());
            if (reached.get(poisoned.slot()) && !told && !poisons.get(poisoned.slot())) {
                poisons.set(poisoned.slot());
                Optional<Finding.Place> place = lines.at(bySlot, poisoned.slot());
                own.add(
                        switch (poisoned.kind()) {
                            case RELOCATION -> new Finding(Finding.Kind.RELOCATION, place, poisoned.what());
                            case FUNCTION ->
                                new Finding(
                                        Finding.Kind.SYMBOL, place, "the kernel has no function " + poisoned.what());
                            case MAP ->
                                new Finding(Finding.Kind.MAP, place, "map \"" + poisoned.what() + "\" was left out");
                        });
            }
        }
        for (int slot = reached.nextSetBit(0); slot >= 0; slot = reached.nextSetBit(slot + 1)) {
            Instruction instruction = code.get(slot);
            if (instruction.isHelperCall()
                    && !poisons.get(slot)
                    && !vocabulary.hasHelper(instruction.imm())
                    && !OldKernelHelpers.hasStandIn(instruction.imm())) {
                own.add(new Finding(
                        Finding.Kind.HELPER,
                        lines.at(bySlot, slot),
                        "the kernel has no helper " + Helpers.name(instruction.imm())));
            }
        }
    }

    /** Whatever kconfig says. */
    private BitSet surelyReached(AssembledProgram program) {
        List<Instruction> code = program.instructions();
        BitSet jumps = new BitSet();
        program.jumpTables().forEach(table -> table.targets().forEach(jumps::set));
        BitSet reached = Reachability.of(code, jumps, readOnlyData, Reachability.Kconfig.TAKEN);
        reached.and(Reachability.of(code, jumps, readOnlyData, Reachability.Kconfig.NOT_TAKEN));
        return reached;
    }

    private boolean isWeak(String extern) {
        return !strong.contains(extern);
    }

    private List<Relocation> relocations(Map<FunctionSpec, Integer> places, ProgramAssembly assembly) {
        List<Relocation> all = new ArrayList<>();
        Btf types = spec.btf().orElse(null);
        if (types == null) {
            return all;
        }
        for (FunctionSpec function : places.keySet()) {
            for (ProgramAssembly.Outcome outcome : assembly.outcomes(function)) {
                all.add(new Relocation(
                        lines.at(function, outcome.slot()),
                        CoreRelocator.describe(types, outcome.relocation()),
                        switch (outcome.fixup()) {
                            case CoreFixup.Keep keep -> OptionalLong.of(keep.value());
                            case CoreFixup.Patch patch -> OptionalLong.of(patch.from());
                            case CoreFixup.Poison poison -> OptionalLong.empty();
                        },
                        switch (outcome.fixup()) {
                            case CoreFixup.Keep keep -> OptionalLong.of(keep.value());
                            case CoreFixup.Patch patch -> OptionalLong.of(patch.to());
                            case CoreFixup.Poison poison -> OptionalLong.empty();
                        }));
            }
        }
        return all;
    }

    /** The message without the object's name, which whoever reads a finding knows. */
    private String bare(RuntimeException e) {
        String message = Objects.requireNonNullElse(e.getMessage(), e.toString());
        String prefix = spec.source() + ": ";
        return message.startsWith(prefix) ? message.substring(prefix.length()) : message;
    }
}
