package io.bpf4j.loader.internal.plan;

import io.bpf4j.core.CoreFixup;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.internal.plan.AssembledProgram.Absent;
import io.bpf4j.loader.internal.plan.AssembledProgram.Poisoned;
import io.bpf4j.loader.internal.plan.AssembledProgram.Referent;
import io.bpf4j.loader.internal.plan.AssembledProgram.Use;
import io.bpf4j.loader.spec.CodeReference;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.sys.internal.call.ProgCommand.InfoTable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/**
 * Resolves the references in the instructions of one program. Records the slots of file descriptors, the jump tables
 * to create, and the missing symbols, whose instructions the verifier rejects if they are reachable. <i>Confined</i>;
 * one per program.
 *
 * <p>Tested by {@code LoadPlanTest} and {@code KernelFunctionCallsTest}.
 */
final class ReferenceLinking {
    /**
     * The instruction that replaces a call of a weak kernel function that is missing; see {@link CoreFixup.Poison}. The
     * number of the extern is added to it, as libbpf does, so that both give the kernel the same instruction.
     */
    private static final int POISON_KFUNC_HELPER = 2_002_000_000;

    /** The same for the load of a map that was left out; the number of the map is added. */
    private static final int POISON_MAP_HELPER = 2_001_000_000;

    private final ProgramAssembly object;
    private final Map<FunctionSpec, Integer> slots;
    private final List<Instruction> code = new ArrayList<>();
    private final List<Use> uses = new ArrayList<>();
    private final List<String> modules = new ArrayList<>();
    private final List<Poisoned> poisoned = new ArrayList<>();
    private final List<Absent> absent = new ArrayList<>();
    /** By the table's place in the section of jump tables. */
    private final Map<Integer, Integer> tableNumbers = new HashMap<>();

    private final List<List<Integer>> tables = new ArrayList<>();

    /** @param slots the functions of the program, each with the slot where it starts */
    ReferenceLinking(ProgramAssembly object, Map<FunctionSpec, Integer> slots) {
        this.object = object;
        this.slots = slots;
    }

    /**
     * Appends all functions and resolves their references.
     *
     * @param functions function information of the program
     * @param lines line information of the program
     */
    AssembledProgram link(InfoTable functions, InfoTable lines) {
        for (FunctionSpec function : slots.keySet()) {
            int start = code.size();
            ProgramAssembly.Relocated body = object.relocated(function);
            code.addAll(body.instructions());
            for (ProgramAssembly.Outcome outcome : body.outcomes()) {
                if (outcome.fixup() instanceof CoreFixup.Poison poison) {
                    poisoned.add(new Poisoned(
                            start + outcome.slot(),
                            Poisoned.Kind.RELOCATION,
                            poison.reason(),
                            "instruction " + outcome.slot() + " of " + function.name() + ": " + poison.reason()));
                }
            }
            function.references().forEach(reference -> resolve(start, function, reference));
        }
        return new AssembledProgram(
                List.copyOf(OldKernelHelpers.replaceMissing(code, object.features)),
                functions,
                lines,
                List.copyOf(uses),
                List.copyOf(modules),
                List.copyOf(tables),
                List.copyOf(poisoned),
                List.copyOf(absent));
    }

    private void resolve(int start, FunctionSpec function, CodeReference reference) {
        int at = start + reference.instruction();
        Instruction instruction = code.get(at);
        switch (reference) {
            case CodeReference.ToFunction used -> function(at, object.functions.target(function, used));
            case CodeReference.ToNamedFunction used -> function(at, object.functions.target(function, used));
            case CodeReference.ToMap map -> loadMap(at, Opcodes.PSEUDO_MAP_FD, 0, function, map.map());
            case CodeReference.ToData data ->
                loadMap(
                        at,
                        Opcodes.PSEUDO_MAP_VALUE,
                        object.starts.getOrDefault(data.map(), 0) + data.offset(),
                        function,
                        data.map());
            case CodeReference.ToJumpTable table -> {
                load(at, Opcodes.PSEUDO_MAP_VALUE, 0, table.offset());
                uses.add(new Use(at, new Referent.JumpTable(tableNumber(table, start - function.slot()))));
            }
            case CodeReference.ToExtern extern -> extern(at, function, extern);
            case CodeReference.ToKernelFunction call -> {
                KernelSymbols.Resolved symbol = symbol(function, call.name());
                if (symbol.isMissing()) {
                    int number = Objects.requireNonNull(object.externNumbers.get(call.name()));
                    code.set(at, instruction.withSrc(Opcodes.PSEUDO_HELPER_CALL).withImm(POISON_KFUNC_HELPER + number));
                    poisoned.add(new Poisoned(
                            at,
                            Poisoned.Kind.FUNCTION,
                            call.name(),
                            "kernel function " + call.name() + ", called by " + function.name()));
                } else {
                    code.set(
                            at,
                            instruction
                                    .withSrc(Opcodes.PSEUDO_KFUNC_CALL)
                                    .withOffset(moduleNumber(symbol.module()))
                                    .withImm(symbol.btfId()));
                }
            }
        }
    }

    /** A call of a function, or a load of its address. */
    private void function(int at, FunctionSpec used) {
        int distance = slot(used) - at - 1;
        if (code.get(at).isCall()) {
            code.set(at, code.get(at).withSrc(Opcodes.PSEUDO_CALL).withImm(distance));
        } else {
            load(at, Opcodes.PSEUDO_FUNC, distance, 0);
        }
    }

    /**
     * The number of a jump table.
     *
     * @param moved distance of the function from its place in the section; the entries are slots of the section
     */
    private int tableNumber(CodeReference.ToJumpTable table, int moved) {
        return tableNumbers.computeIfAbsent(table.table(), _ -> {
            tables.add(table.slots().stream().map(slot -> slot + moved).toList());
            return tables.size() - 1;
        });
    }

    /** The number that a call uses for a module: a place in the program's list of modules; 0 is the kernel itself. */
    private int moduleNumber(String module) {
        if (module.isEmpty()) {
            return 0;
        }
        if (!modules.contains(module)) {
            modules.add(module);
        }
        return modules.indexOf(module) + 1;
    }

    private int slot(FunctionSpec function) {
        return Objects.requireNonNull(slots.get(function));
    }

    private void extern(int at, FunctionSpec function, CodeReference.ToExtern reference) {
        ExternSpec extern = Objects.requireNonNull(object.externs.get(reference.name()));
        switch (extern.kind()) {
            case KCONFIG -> loadMap(at, Opcodes.PSEUDO_MAP_VALUE, extern.offset(), function, DataSection.KCONFIG);
            case KSYM -> {
                long address = symbol(function, extern.name()).address();
                if (address == 0) {
                    absent.add(new Absent(at, extern.name()));
                }
                load(at, Opcodes.PSEUDO_NUMBER, (int) address, (int) (address >>> 32));
            }
            case KSYM_TYPED, KFUNC -> {
                KernelSymbols.Resolved symbol = symbol(function, extern.name());
                int source = symbol.isMissing() ? Opcodes.PSEUDO_NUMBER : Opcodes.PSEUDO_BTF_ID;
                if (symbol.isMissing()) {
                    absent.add(new Absent(at, extern.name()));
                }
                load(at, source, symbol.btfId(), 0);
                if (!symbol.module().isEmpty()) {
                    uses.add(new Use(at + 1, new Referent.Module(symbol.module())));
                }
            }
        }
    }

    private KernelSymbols.Resolved symbol(FunctionSpec function, String name) {
        KernelSymbols.Resolved symbol = object.symbols.get(name);
        if (symbol == null) {
            throw new InvalidObjectException(object.spec.source() + ": function \"" + function.name()
                    + "\" refers to unknown extern \"" + name + "\"");
        }
        return symbol;
    }

    /**
     * Loads the address of a map, or of a place in its value. If the map was left out, the verifier rejects the
     * instruction.
     */
    private void loadMap(int at, int source, int offset, FunctionSpec function, String map) {
        Integer number = object.maps.get(map);
        if (number != null) {
            load(at, source, number, offset);
            uses.add(new Use(at, new Referent.Map(map)));
            return;
        }
        OptionalInt place = IntStream.range(0, object.spec.maps().size())
                .filter(i -> object.spec.maps().get(i).name().equals(map))
                .findFirst();
        if (place.isEmpty()) {
            throw new InvalidObjectException(object.spec.source() + ": function \"" + function.name()
                    + "\" refers to unknown map \"" + map + "\"");
        }
        // Both halves, so that neither is mistaken for another instruction.
        Instruction refused =
                new Instruction(Opcodes.JMP | Opcodes.CALL, 0, 0, 0, POISON_MAP_HELPER + place.getAsInt());
        code.set(at, refused);
        code.set(at + 1, refused);
        poisoned.add(new Poisoned(
                at, Poisoned.Kind.MAP, map, "map \"" + map + "\", which was left out, used by " + function.name()));
    }

    private void load(int at, int source, int first, int second) {
        code.set(at, code.get(at).withSrc(source).withImm(first));
        code.set(at + 1, code.get(at + 1).withImm(second));
    }
}
