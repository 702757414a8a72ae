package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.BtfExt;
import io.bpf4j.core.CoreException;
import io.bpf4j.core.CoreFixup;
import io.bpf4j.core.CoreRelocator;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.internal.call.ProgCommand.InfoTable;
import java.util.ArrayList;
import java.util.Comparator;
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
 *       FunctionSlots}. Shared subprograms are copied into each program that uses them.
 *   <li>Each function's CO-RE relocations are applied, once per object.
 *   <li>Calls get the distance in slots from the next instruction to the target; loads of a map or of global data get
 *       the map's number; loads of a kernel symbol its address or BTF id: {@link ReferenceLinking}.
 *   <li>Function and line information is collected for the functions in the program, with their new slots: {@link
 *       FunctionRecords}.
 * </ol>
 *
 * <i>Confined</i>; one per load of an object.
 *
 * <p>Tested by {@code BpfLoaderTest} and {@code CoreGoldenTest}.
 */
public final class ProgramAssembly {
    final ObjectSpec spec;
    final Features features;
    final FunctionSlots functions;
    /** The numbers of the maps by name; a map that is left out has no number. */
    final Map<String, Integer> maps;

    /** Where the variables in a map begin, by its name: {@link ArenaVariables}; 0 for maps that are not listed. */
    final Map<String, Integer> starts;

    final Map<String, ExternSpec> externs = new HashMap<>();

    /** The number of each extern by libbpf's count: options of the kernel in their order, then symbols by name. */
    final Map<String, Integer> externNumbers = new HashMap<>();

    /** The kernel's symbols by the extern's name. */
    final Map<String, KernelSymbols.Resolved> symbols;

    private final Supplier<CoreTarget> target;
    private final boolean describe;
    private final FunctionRecords records;
    private final Map<FunctionSpec, Relocated> relocated = new HashMap<>();
    private @Nullable CoreRelocator relocator;

    /** A function whose relocations are applied. */
    public record Relocated(List<Instruction> instructions, List<Outcome> outcomes) {
        public static final Relocated NONE = new Relocated(List.of(), List.of());
    }

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
     * @param starts where the variables in a map begin, unless at 0
     * @param target types for CO-RE relocations
     * @param describe whether the kernel accepts function information
     */
    ProgramAssembly(
            ObjectSpec spec,
            Map<String, Integer> maps,
            Map<String, Integer> starts,
            Map<String, KernelSymbols.Resolved> symbols,
            Supplier<CoreTarget> target,
            Features features,
            boolean describe) {
        this.spec = spec;
        this.features = features;
        this.functions = new FunctionSlots(spec);
        this.maps = maps;
        this.starts = starts;
        this.symbols = symbols;
        this.target = target;
        this.describe = describe;
        this.records = new FunctionRecords(spec);
        spec.externs().forEach(extern -> externs.put(extern.name(), extern));
        spec.externs().stream()
                .sorted(Comparator.comparing(extern -> extern.kind() == ExternSpec.Kind.KCONFIG ? "" : extern.name()))
                .forEach(extern -> externNumbers.putIfAbsent(extern.name(), externNumbers.size()));
    }

    /** A program with its functions at their slots. */
    AssembledProgram assemble(Map<FunctionSpec, Integer> slots) {
        return new ReferenceLinking(this, slots)
                .link(
                        describe ? records.functionTable(slots) : InfoTable.NONE,
                        describe ? records.lineTable(slots) : InfoTable.NONE);
    }

    /** The relocated functions of the assembled programs. */
    Map<FunctionSpec, Relocated> relocated() {
        return relocated;
    }

    Relocated relocated(FunctionSpec function) {
        return relocated.computeIfAbsent(function, this::relocate);
    }

    private Relocated relocate(FunctionSpec function) {
        List<Instruction> code = new ArrayList<>(function.instructions());
        List<Outcome> outcomes = new ArrayList<>();
        List<BtfExt.CoreRelocation> relocations = function.replaced() ? List.of() : records.relocations(function);
        for (BtfExt.CoreRelocation relocation : relocations) {
            CoreRelocator core = relocator;
            if (core == null) {
                core = new CoreRelocator(spec.btf().orElseThrow(), target.get());
                relocator = core;
            }
            int index = FunctionRecords.slot(function, relocation.offset());
            try {
                CoreFixup fixup = core.relocate(relocation, code, index);
                outcomes.add(new Outcome(index, relocation, fixup));
                switch (fixup) {
                    case CoreFixup.Keep keep -> {}
                    case CoreFixup.Patch patch -> replace(code, index, patch.slots());
                    case CoreFixup.Poison poison -> replace(code, index, poison.slots());
                }
            } catch (CoreException e) {
                throw new RelocationException(
                        spec.source() + ": function \"" + function.name() + "\": instruction " + index + ": "
                                + e.getMessage(),
                        e);
            }
        }
        return new Relocated(code, outcomes);
    }

    private static void replace(List<Instruction> code, int index, List<Instruction> slots) {
        for (int i = 0; i < slots.size(); i++) {
            code.set(index + i, slots.get(i));
        }
    }
}
