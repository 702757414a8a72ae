package io.bpf4j.loader.internal.load;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfExt;
import io.bpf4j.core.CoreException;
import io.bpf4j.core.CoreFixup;
import io.bpf4j.core.CoreRelocator;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.insn.PseudoSource;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.internal.load.AssembledProgram.Absent;
import io.bpf4j.loader.internal.load.AssembledProgram.JumpTable;
import io.bpf4j.loader.internal.load.AssembledProgram.Poisoned;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.ProgCommand.InfoTable;
import io.bpf4j.loader.spec.CodeReference;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Joins a program and the functions that it calls into the one piece of code that the kernel takes.
 *
 * <p>The kernel knows no symbols. A program is a list of instructions whose first function is the entry; other functions
 * follow, and a call says how far away its target is. So:
 *
 * <ol>
 *   <li>From the entry, each function that is called, or whose address is taken, is appended once: {@link
 *       FunctionPlaces}. Shared subprograms are copied into each program that uses them.
 *   <li>Each function's CO-RE relocations are applied, once per object.
 *   <li>Calls get the distance in slots from the next instruction to the target; loads of a map or of global data get
 *       the map's descriptor; loads of a kernel symbol its address or BTF id.
 *   <li>Function and line information is collected for the functions that are in, with their new places.
 * </ol>
 *
 * <i>Confined</i>; one per load of an object.
 */
final class ProgramAssembly {
    /** The instruction that replaces a call of a weak kernel function that is missing; see {@link CoreFixup.Poison}. */
    private static final int POISON_KFUNC_HELPER = 2_002_000_000;

    /** The same for the load of a map that was left out. */
    private static final int POISON_MAP_HELPER = 2_001_000_000;

    private final ObjectSpec spec;
    private final MapNumbers maps;
    private final Map<String, KernelSymbols.Resolved> symbols;
    private final Supplier<CoreTarget> target;
    private final Function<Btf, Fd> modules;
    private final boolean describe;
    private final FunctionPlaces functions;
    private final Map<FunctionSpec, Relocated> relocated = new HashMap<>();
    private final Map<String, ExternSpec> externs = new HashMap<>();
    private final RecordsByPlace<BtfExt.CoreRelocation> relocations;
    private final RecordsByPlace<BtfExt.FuncInfo> functionRecords;
    private final RecordsByPlace<BtfExt.LineInfo> lineRecords;
    private @Nullable CoreRelocator relocator;

    private record Relocated(List<Instruction> instructions, List<Poisoned> poisoned, List<Outcome> outcomes) {}

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
     * What became of a relocation.
     *
     * @param slot in the function
     */
    record Outcome(int slot, BtfExt.CoreRelocation relocation, CoreFixup fixup) {}

    /**
     * An assembly of programs of one object.
     *
     * @param describe whether the kernel takes information about functions
     */
    ProgramAssembly(
            ObjectSpec spec,
            MapNumbers maps,
            Map<String, KernelSymbols.Resolved> symbols,
            Supplier<CoreTarget> target,
            Function<Btf, Fd> modules,
            boolean describe) {
        this.spec = spec;
        this.maps = maps;
        this.symbols = symbols;
        this.target = target;
        this.modules = modules;
        this.describe = describe;
        Optional<BtfExt> ext = spec.btfExt();
        this.relocations = new RecordsByPlace<>(
                section -> ext.map(e -> e.relocations().of(section)).orElse(List.of()), BtfExt.CoreRelocation::offset);
        this.functionRecords = new RecordsByPlace<>(
                section -> ext.map(e -> e.functions().of(section)).orElse(List.of()), BtfExt.FuncInfo::offset);
        this.lineRecords = new RecordsByPlace<>(
                section -> ext.map(e -> e.lines().of(section)).orElse(List.of()), BtfExt.LineInfo::offset);
        spec.externs().forEach(extern -> externs.put(extern.name(), extern));
        this.functions = new FunctionPlaces(spec);
    }

    AssembledProgram assemble(ProgramSpec program) {
        return assemble(program, functions.of(program));
    }

    /** The functions of a program in order, each with the slot where it starts. */
    Map<FunctionSpec, Integer> places(ProgramSpec program) {
        return functions.of(program);
    }

    /** With its functions at {@link #places}. */
    AssembledProgram assemble(ProgramSpec program, Map<FunctionSpec, Integer> places) {
        List<Instruction> code = new ArrayList<>();
        Set<Fd> mentioned = new LinkedHashSet<>();
        List<Fd> called = new ArrayList<>();
        List<Poisoned> poisoned = new ArrayList<>();
        List<Absent> absent = new ArrayList<>();
        Map<Integer, List<Integer>> tables = new LinkedHashMap<>();
        Map<Integer, List<Integer>> loads = new HashMap<>();
        places.forEach((function, start) -> {
            Relocated body = relocated.computeIfAbsent(function, this::relocate);
            body.poisoned().forEach(p -> poisoned.add(p.movedBy(start)));
            code.addAll(body.instructions());
            for (CodeReference reference : function.references()) {
                if (reference instanceof CodeReference.ToJumpTable table) {
                    int at = start + table.instruction();
                    load(code, at, PseudoSource.MAP_VALUE, 0, table.offset());
                    // Its entries are slots of the section, and in the program the function is elsewhere.
                    int moved = start - function.slot();
                    tables.computeIfAbsent(
                            table.table(),
                            _ -> table.slots().stream()
                                    .map(slot -> slot + moved)
                                    .toList());
                    loads.computeIfAbsent(table.table(), _ -> new ArrayList<>()).add(at);
                } else {
                    resolve(code, start, function, reference, places, mentioned, called, poisoned, absent);
                }
            }
        });
        return new AssembledProgram(
                program,
                List.copyOf(code),
                describe ? functionInfo(places) : InfoTable.NONE,
                describe ? lineInfo(places) : InfoTable.NONE,
                List.copyOf(mentioned),
                List.copyOf(called),
                places,
                tables.entrySet().stream()
                        .map(table -> new JumpTable(table.getValue(), loads.getOrDefault(table.getKey(), List.of())))
                        .toList(),
                List.copyOf(poisoned),
                List.copyOf(absent));
    }

    private Relocated relocate(FunctionSpec function) {
        List<Instruction> code = new ArrayList<>(function.instructions());
        List<Poisoned> poisoned = new ArrayList<>();
        List<Outcome> outcomes = new ArrayList<>();
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

    /** What became of the relocations of a function that is in a program which was assembled. */
    List<Outcome> outcomes(FunctionSpec function) {
        Relocated body = relocated.get(function);
        return body == null ? List.of() : List.copyOf(body.outcomes());
    }

    private static void replace(List<Instruction> code, int index, List<Instruction> slots) {
        for (int i = 0; i < slots.size(); i++) {
            code.set(index + i, slots.get(i));
        }
    }

    private void resolve(
            List<Instruction> code,
            int start,
            FunctionSpec function,
            CodeReference reference,
            Map<FunctionSpec, Integer> places,
            Set<Fd> mentioned,
            List<Fd> called,
            List<Poisoned> poisoned,
            List<Absent> absent) {
        int at = start + reference.instruction();
        Instruction instruction = code.get(at);
        switch (reference) {
            case CodeReference.ToFunction call -> {
                FunctionSpec callee = functions.target(function, call.instruction(), call.section(), call.slot());
                code.set(at, instruction.withSrc(PseudoSource.CALL).withImm(place(places, callee) - at - 1));
            }
            case CodeReference.ToFunctionAddress address -> {
                FunctionSpec callee =
                        functions.target(function, address.instruction(), address.section(), address.slot());
                load(code, at, PseudoSource.FUNC, place(places, callee) - at - 1, 0);
            }
            case CodeReference.ToMap map ->
                loadMap(code, at, PseudoSource.MAP_FD, 0, function, map.map(), mentioned, poisoned);
            case CodeReference.ToData data ->
                loadMap(code, at, PseudoSource.MAP_VALUE, data.offset(), function, data.map(), mentioned, poisoned);
            case CodeReference.ToJumpTable table -> throw new IllegalArgumentException("made by the caller: " + table);
            case CodeReference.ToExtern extern -> extern(code, at, function, extern, mentioned, poisoned, absent);
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
                                    .withOffset(moduleNumber(symbol, called))
                                    .withImm(symbol.btfId()));
                }
            }
        }
    }

    /** A call says by a number in the program's list of modules whose function it means; 0 is the kernel itself. */
    private int moduleNumber(KernelSymbols.Resolved symbol, List<Fd> called) {
        Btf module = symbol.module();
        if (module == null) {
            return 0;
        }
        Fd fd = modules.apply(module);
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

    private static int place(Map<FunctionSpec, Integer> places, FunctionSpec function) {
        Integer place = places.get(function);
        if (place == null) {
            throw new IllegalStateException(function + " was not placed");
        }
        return place;
    }

    private void extern(
            List<Instruction> code,
            int at,
            FunctionSpec function,
            CodeReference.ToExtern reference,
            Set<Fd> mentioned,
            List<Poisoned> poisoned,
            List<Absent> absent) {
        ExternSpec extern = Objects.requireNonNull(externs.get(reference.name()));
        switch (extern.kind()) {
            case KCONFIG ->
                loadMap(
                        code,
                        at,
                        PseudoSource.MAP_VALUE,
                        extern.offset(),
                        function,
                        DataSection.KCONFIG,
                        mentioned,
                        poisoned);
            case KSYM -> {
                long address = symbol(function, extern.name()).address();
                if (address == 0) {
                    absent.add(new Absent(at, extern.name()));
                }
                load(code, at, PseudoSource.NUMBER, (int) address, (int) (address >>> 32));
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
                    Fd fd = modules.apply(module);
                    mentioned.add(fd);
                    descriptor = fd.number();
                }
                load(code, at, source, symbol.btfId(), descriptor);
            }
        }
    }

    private KernelSymbols.Resolved symbol(FunctionSpec function, String name) {
        KernelSymbols.Resolved symbol = symbols.get(name);
        if (symbol == null) {
            throw new InvalidObjectException(
                    spec.source() + ": function \"" + function.name() + "\" refers to unknown extern \"" + name + "\"");
        }
        return symbol;
    }

    /** Loads the address of a map, or of a place in its value; or what the verifier refuses, if the map was left out. */
    private void loadMap(
            List<Instruction> code,
            int at,
            int source,
            int offset,
            FunctionSpec function,
            String map,
            Set<Fd> mentioned,
            List<Poisoned> poisoned) {
        OptionalInt number = maps.number(map, mentioned);
        if (number.isPresent()) {
            load(code, at, source, number.getAsInt(), offset);
            return;
        }
        if (spec.map(map).isEmpty()) {
            throw new InvalidObjectException(
                    spec.source() + ": function \"" + function.name() + "\" refers to unknown map \"" + map + "\"");
        }
        // Both halves, so that neither is taken for something else.
        Instruction refused = new Instruction(Opcodes.JMP | Opcodes.CALL, 0, 0, 0, POISON_MAP_HELPER);
        code.set(at, refused);
        code.set(at + 1, refused);
        poisoned.add(new Poisoned(
                at, Poisoned.Kind.MAP, map, "map \"" + map + "\", which was left out, used by " + function.name()));
    }

    private static void load(List<Instruction> code, int at, int source, int first, int second) {
        code.set(at, code.get(at).withSrc(source).withImm(first));
        code.set(at + 1, code.get(at + 1).withImm(second));
    }

    /** {@code struct bpf_func_info}: u32 instruction, u32 type id; the kernel wants one for every function. */
    private InfoTable functionInfo(Map<FunctionSpec, Integer> places) {
        ByteBuffer records = ByteBuffer.allocate(places.size() * 8).order(spec.order());
        for (Map.Entry<FunctionSpec, Integer> place : places.entrySet()) {
            FunctionSpec function = place.getKey();
            List<BtfExt.FuncInfo> info = functionRecords.of(function);
            if (info.isEmpty() || functionRecords.slot(function, info.getFirst()) != 0) {
                return InfoTable.NONE;
            }
            records.putInt(place.getValue()).putInt(info.getFirst().type());
        }
        return new InfoTable(records.array(), 8);
    }

    /** {@code struct bpf_line_info}: u32 instruction, u32 file, u32 line's text, u32 line and column. */
    private InfoTable lineInfo(Map<FunctionSpec, Integer> places) {
        List<int[]> lines = new ArrayList<>();
        for (Map.Entry<FunctionSpec, Integer> place : places.entrySet()) {
            FunctionSpec function = place.getKey();
            List<BtfExt.LineInfo> own = lineRecords.of(function);
            // The kernel insists on a line for the first instruction of every function.
            if (own.isEmpty() || lineRecords.slot(function, own.getFirst()) != 0) {
                return InfoTable.NONE;
            }
            for (BtfExt.LineInfo line : own) {
                int slot = place.getValue() + lineRecords.slot(function, line);
                lines.add(new int[] {slot, line.file(), line.text(), line.position()});
            }
        }
        ByteBuffer records = ByteBuffer.allocate(lines.size() * 16).order(spec.order());
        for (int[] line : lines) {
            for (int word : line) {
                records.putInt(word);
            }
        }
        return new InfoTable(records.array(), 16);
    }
}
