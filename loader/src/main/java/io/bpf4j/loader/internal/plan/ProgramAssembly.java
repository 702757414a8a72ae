package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.BtfExt;
import io.bpf4j.core.CoreException;
import io.bpf4j.core.CoreFixup;
import io.bpf4j.core.CoreRelocator;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.plan.AssembledProgram.Poisoned;
import io.bpf4j.loader.internal.sys.ProgCommand.InfoTable;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Joins a program and the functions that it calls into one list of instructions for the kernel.
 *
 * <p>The kernel does not know symbols. A program is a list of instructions whose first function is the entry; other
 * functions follow, and a call holds the distance to its target. The steps:
 *
 * <ol>
 *   <li>From the entry, each function that is called, or whose address is taken, is appended once: {@link
 *       FunctionPlaces}. Shared subprograms are copied into each program that uses them.
 *   <li>Each function's CO-RE relocations are applied, once per object.
 *   <li>Calls get the distance in slots from the next instruction to the target; loads of a map or of global data get
 *       the map's number; loads of a kernel symbol its address or BTF id: {@link ReferenceLinking}.
 *   <li>Function and line information is collected for the functions in the program, with their new places: {@link
 *       InfoTables}.
 * </ol>
 *
 * <i>Confined</i>; one per load of an object.
 *
 * <p>Tested by {@code BpfLoaderTest} and {@code CoreGoldenTest}.
 */
public final class ProgramAssembly {
    private final ObjectSpec spec;
    private final Supplier<CoreTarget> target;
    private final Features features;
    private final boolean describe;
    private final ReferenceLinking.Targets references;
    private final Map<FunctionSpec, Relocated> relocated = new HashMap<>();
    private final RecordsByPlace<BtfExt.CoreRelocation> relocations;
    private final InfoTables info;
    private @Nullable CoreRelocator relocator;

    private record Relocated(List<Instruction> instructions, List<Poisoned> poisoned, List<Outcome> outcomes) {}

    /**
     * The result of a relocation.
     *
     * @param slot in the function
     */
    public record Outcome(int slot, BtfExt.CoreRelocation relocation, CoreFixup fixup) {}

    /**
     * An assembly of programs of one object.
     *
     * @param maps their numbers; maps that are left out have none
     * @param target types for CO-RE relocations
     * @param describe whether the kernel accepts function information
     */
    ProgramAssembly(
            ObjectSpec spec,
            Map<String, Integer> maps,
            Map<String, KernelSymbols.Resolved> symbols,
            Supplier<CoreTarget> target,
            Features features,
            boolean describe) {
        this.spec = spec;
        this.target = target;
        this.features = features;
        this.describe = describe;
        this.relocations = new RecordsByPlace<>(spec, BtfExt::relocations, BtfExt.CoreRelocation::offset);
        this.info = new InfoTables(spec);
        Map<String, ExternSpec> externs = new HashMap<>();
        spec.externs().forEach(extern -> externs.put(extern.name(), extern));
        this.references = new ReferenceLinking.Targets(spec, new FunctionPlaces(spec), maps, externs, symbols);
    }

    /** The functions of a program in order, each with the slot where it starts. */
    Map<FunctionSpec, Integer> places(ProgramSpec program) {
        return references.functions().of(program);
    }

    /** A program with its functions at {@link #places}. */
    AssembledProgram assemble(Map<FunctionSpec, Integer> places) {
        ReferenceLinking linking = new ReferenceLinking(references, places);
        for (FunctionSpec function : places.keySet()) {
            Relocated body = relocated.computeIfAbsent(function, this::relocate);
            linking.append(function, body.instructions(), body.poisoned());
        }
        return linking.done(
                describe ? info.functions(places) : InfoTable.NONE,
                describe ? info.lines(places) : InfoTable.NONE,
                features);
    }

    private Relocated relocate(FunctionSpec function) {
        List<Instruction> code = new ArrayList<>(function.instructions());
        List<Poisoned> poisoned = new ArrayList<>();
        List<Outcome> outcomes = new ArrayList<>();
        if (function.replaced()) {
            return new Relocated(code, poisoned, outcomes);
        }
        for (BtfExt.CoreRelocation relocation : relocations.of(function)) {
            CoreRelocator core = relocator;
            if (core == null) {
                core = new CoreRelocator(spec.btf().orElseThrow(), target.get());
                relocator = core;
            }
            int index = relocations.slot(function, relocation);
            try {
                CoreFixup fixup = core.relocate(relocation, code, index);
                outcomes.add(new Outcome(index, relocation, fixup));
                switch (fixup) {
                    case CoreFixup.Keep keep -> {}
                    case CoreFixup.Patch patch -> replace(code, index, patch.slots());
                    case CoreFixup.Poison poison -> {
                        replace(code, index, poison.slots());
                        poisoned.add(new Poisoned(
                                index,
                                Poisoned.Kind.RELOCATION,
                                poison.reason(),
                                "instruction " + index + " of " + function.name() + ": " + poison.reason()));
                    }
                }
            } catch (CoreException e) {
                throw new RelocationException(
                        spec.source() + ": function \"" + function.name() + "\": instruction " + index + ": "
                                + e.getMessage(),
                        e);
            }
        }
        return new Relocated(code, poisoned, outcomes);
    }

    /** The results of the relocations of each function in the assembled programs. */
    Map<FunctionSpec, List<Outcome>> outcomes() {
        Map<FunctionSpec, List<Outcome>> all = new HashMap<>();
        relocated.forEach((function, body) -> all.put(function, body.outcomes()));
        return all;
    }

    private static void replace(List<Instruction> code, int index, List<Instruction> slots) {
        for (int i = 0; i < slots.size(); i++) {
            code.set(index + i, slots.get(i));
        }
    }
}
