package io.bpf4j.loader.internal.load;

import io.bpf4j.btf.Btf;
import io.bpf4j.core.CoreFixup;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.insn.PseudoSource;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.internal.load.AssembledProgram.Absent;
import io.bpf4j.loader.internal.load.AssembledProgram.JumpTable;
import io.bpf4j.loader.internal.load.AssembledProgram.Poisoned;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.spec.CodeReference;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;

/**
 * Puts into the code of one program what its instructions refer to, and keeps account of what that takes: descriptors that
 * have to stay open, jump tables to be made, and what is not there and stands as poison instead. <i>Confined</i>; one per
 * program.
 */
final class ReferenceLinking {
    /** The instruction that replaces a call of a weak kernel function that is missing; see {@link CoreFixup.Poison}. */
    private static final int POISON_KFUNC_HELPER = 2_002_000_000;

    /** The same for the load of a map that was left out. */
    private static final int POISON_MAP_HELPER = 2_001_000_000;

    /** What stands in an instruction for a map. */
    interface MapNumbers {
        /**
         * The number for a map.
         *
         * @param mentioned takes what must stay open until the program is loaded
         * @return empty if there is no such map
         */
        OptionalInt number(String map, Set<Fd> mentioned);

        /** Descriptors. */
        static MapNumbers of(Map<String, KernelMap> maps) {
            return (name, mentioned) -> {
                KernelMap map = maps.get(name);
                if (map == null) {
                    return OptionalInt.empty();
                }
                mentioned.add(map.fd());
                return OptionalInt.of(map.fd().number());
            };
        }
    }

    /**
     * What references of an object can lead to.
     *
     * @param externs by name
     * @param symbols of the kernel, by the extern's name
     * @param modules the descriptor of a module's BTF
     */
    record Targets(
            ObjectSpec spec,
            FunctionPlaces functions,
            MapNumbers maps,
            Map<String, ExternSpec> externs,
            Map<String, KernelSymbols.Resolved> symbols,
            Function<Btf, Fd> modules) {}

    private final Targets targets;
    private final Map<FunctionSpec, Integer> places;
    private final List<Instruction> code = new ArrayList<>();
    private final Set<Fd> mentioned = new LinkedHashSet<>();
    private final List<Fd> called = new ArrayList<>();
    private final List<Poisoned> poisoned = new ArrayList<>();
    private final List<Absent> absent = new ArrayList<>();
    private final Map<Integer, List<Integer>> tables = new LinkedHashMap<>();
    private final Map<Integer, List<Integer>> loads = new HashMap<>();

    /**
     * For a program.
     *
     * @param places of its functions
     */
    ReferenceLinking(Targets targets, Map<FunctionSpec, Integer> places) {
        this.targets = targets;
        this.places = places;
    }

    /**
     * The next function of the program.
     *
     * @param instructions its code, with relocations for the kernel's types done
     * @param missing what these left of poison, by the function's slots
     */
    void append(FunctionSpec function, List<Instruction> instructions, List<Poisoned> missing) {
        int start = code.size();
        missing.forEach(p -> poisoned.add(p.movedBy(start)));
        code.addAll(instructions);
        function.references().forEach(reference -> resolve(start, function, reference));
    }

    List<Instruction> code() {
        return List.copyOf(code);
    }

    /** Descriptors whose numbers are in the code. */
    List<Fd> mentioned() {
        return List.copyOf(mentioned);
    }

    /** BTF of modules by the number that calls of their functions have. */
    List<Fd> modules() {
        return List.copyOf(called);
    }

    List<JumpTable> jumpTables() {
        return tables.entrySet().stream()
                .map(table -> new JumpTable(table.getValue(), loads.getOrDefault(table.getKey(), List.of())))
                .toList();
    }

    List<Poisoned> poisoned() {
        return List.copyOf(poisoned);
    }

    List<Absent> absent() {
        return List.copyOf(absent);
    }

    private void resolve(int start, FunctionSpec function, CodeReference reference) {
        int at = start + reference.instruction();
        Instruction instruction = code.get(at);
        switch (reference) {
            case CodeReference.ToFunction call -> {
                FunctionSpec callee =
                        targets.functions().target(function, call.instruction(), call.section(), call.slot());
                code.set(at, instruction.withSrc(PseudoSource.CALL).withImm(place(callee) - at - 1));
            }
            case CodeReference.ToFunctionAddress address -> {
                FunctionSpec callee =
                        targets.functions().target(function, address.instruction(), address.section(), address.slot());
                load(at, PseudoSource.FUNC, place(callee) - at - 1, 0);
            }
            case CodeReference.ToMap map -> loadMap(at, PseudoSource.MAP_FD, 0, function, map.map());
            case CodeReference.ToData data -> loadMap(at, PseudoSource.MAP_VALUE, data.offset(), function, data.map());
            case CodeReference.ToJumpTable table -> {
                load(at, PseudoSource.MAP_VALUE, 0, table.offset());
                // Its entries are slots of the section, and in the program the function is elsewhere.
                int moved = start - function.slot();
                tables.computeIfAbsent(
                        table.table(),
                        _ -> table.slots().stream().map(slot -> slot + moved).toList());
                loads.computeIfAbsent(table.table(), _ -> new ArrayList<>()).add(at);
            }
            case CodeReference.ToExtern extern -> extern(at, function, extern);
            case CodeReference.ToKernelFunction call -> {
                KernelSymbols.Resolved symbol = symbol(function, call.name());
                if (symbol.isMissing()) {
                    code.set(at, instruction.withSrc(PseudoSource.HELPER_CALL).withImm(POISON_KFUNC_HELPER));
                    poisoned.add(new Poisoned(
                            at,
                            Poisoned.Kind.FUNCTION,
                            call.name(),
                            "function " + call.name() + " of the kernel, called by " + function.name()));
                } else {
                    code.set(
                            at,
                            instruction
                                    .withSrc(PseudoSource.KFUNC_CALL)
                                    .withOffset(moduleNumber(symbol))
                                    .withImm(symbol.btfId()));
                }
            }
        }
    }

    /** A call says by a number in the program's list of modules whose function it means; 0 is the kernel itself. */
    private int moduleNumber(KernelSymbols.Resolved symbol) {
        Btf module = symbol.module();
        if (module == null) {
            return 0;
        }
        Fd fd = targets.modules().apply(module);
        if (called.isEmpty()) {
            called.add(fd); // in place of the kernel
        }
        int number = called.subList(1, called.size()).indexOf(fd) + 1;
        if (number == 0) {
            called.add(fd);
            number = called.size() - 1;
        }
        return number;
    }

    private int place(FunctionSpec function) {
        Integer place = places.get(function);
        if (place == null) {
            throw new IllegalStateException(function + " was not placed");
        }
        return place;
    }

    private void extern(int at, FunctionSpec function, CodeReference.ToExtern reference) {
        ExternSpec extern = Objects.requireNonNull(targets.externs().get(reference.name()));
        switch (extern.kind()) {
            case KCONFIG -> loadMap(at, PseudoSource.MAP_VALUE, extern.offset(), function, DataSection.KCONFIG);
            case KSYM -> {
                long address = symbol(function, extern.name()).address();
                if (address == 0) {
                    absent.add(new Absent(at, extern.name()));
                }
                load(at, PseudoSource.NUMBER, (int) address, (int) (address >>> 32));
            }
            case KSYM_TYPED, KFUNC -> {
                KernelSymbols.Resolved symbol = symbol(function, extern.name());
                int source = symbol.isMissing() ? PseudoSource.NUMBER : PseudoSource.BTF_ID;
                if (symbol.isMissing()) {
                    absent.add(new Absent(at, extern.name()));
                }
                Btf module = symbol.module();
                int descriptor = 0;
                if (module != null) {
                    Fd fd = targets.modules().apply(module);
                    mentioned.add(fd);
                    descriptor = fd.number();
                }
                load(at, source, symbol.btfId(), descriptor);
            }
        }
    }

    private KernelSymbols.Resolved symbol(FunctionSpec function, String name) {
        KernelSymbols.Resolved symbol = targets.symbols().get(name);
        if (symbol == null) {
            throw new InvalidObjectException(targets.spec().source() + ": function \"" + function.name()
                    + "\" refers to unknown extern \"" + name + "\"");
        }
        return symbol;
    }

    /** Loads the address of a map, or of a place in its value; or what the verifier refuses, if the map was left out. */
    private void loadMap(int at, int source, int offset, FunctionSpec function, String map) {
        OptionalInt number = targets.maps().number(map, mentioned);
        if (number.isPresent()) {
            load(at, source, number.getAsInt(), offset);
            return;
        }
        if (targets.spec().map(map).isEmpty()) {
            throw new InvalidObjectException(targets.spec().source() + ": function \"" + function.name()
                    + "\" refers to unknown map \"" + map + "\"");
        }
        // Both halves, so that neither is taken for something else.
        Instruction refused = new Instruction(Opcodes.JMP | Opcodes.CALL, 0, 0, 0, POISON_MAP_HELPER);
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
