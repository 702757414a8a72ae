package io.bpf4j.insn;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes programs in Java.
 *
 * <pre>{@code
 * List<Instruction> program = Assembler.create()
 *         .ldx(4, R2, R1, 0)              // r2 = *(u32 *)(r1 +0)
 *         .jump(Opcodes.JEQ, R2, 7, "out")
 *         .mov(R0, 1)
 *         .exit()
 *         .label("out")
 *         .mov(R0, 0)
 *         .exit()
 *         .assemble();
 * }</pre>
 *
 * <p>Jumps name a label, which may be defined before or after them. Maps and other functions of the object that the
 * code will belong to are referred to by their names; {@code FunctionSpec.of} takes such code. <i>Confined.</i>
 *
 * <p>Tested by {@code InstructionsTest}.
 */
public final class Assembler {
    public static final int R0 = 0;
    public static final int R1 = 1;
    public static final int R2 = 2;
    public static final int R3 = 3;
    public static final int R4 = 4;
    public static final int R5 = 5;
    public static final int R6 = 6;
    public static final int R7 = 7;
    public static final int R8 = 8;
    public static final int R9 = 9;
    /** The frame pointer; read-only. */
    public static final int R10 = 10;

    private final List<Instruction> slots = new ArrayList<>();
    private final Map<String, Integer> labels = new HashMap<>();
    private final List<Jump> jumps = new ArrayList<>();
    private final Map<Integer, String> maps = new TreeMap<>();
    private final Map<Integer, String> functions = new TreeMap<>();

    /** A jump whose distance is not known before its label; a {@code wide} jump has the distance in {@code imm}. */
    private record Jump(int index, String label, boolean wide) {}

    private Assembler() {}

    public static Assembler create() {
        return new Assembler();
    }

    /** {@code dst = imm}, sign-extended to 64 bits. */
    public Assembler mov(int dst, int imm) {
        return alu(Opcodes.MOV, dst, imm);
    }

    /** {@code dst = src}, 64 bits. */
    public Assembler movReg(int dst, int src) {
        return aluReg(Opcodes.MOV, dst, src);
    }

    /** A 64-bit operation with an immediate, such as {@code alu(Opcodes.ADD, R1, -8)}. */
    public Assembler alu(int operation, int dst, int imm) {
        return raw(Opcodes.ALU64 | operation | Opcodes.K, dst, 0, 0, imm);
    }

    /** A 64-bit operation with a register. */
    public Assembler aluReg(int operation, int dst, int src) {
        return raw(Opcodes.ALU64 | operation | Opcodes.X, dst, src, 0, 0);
    }

    /** A 32-bit operation with an immediate. */
    public Assembler alu32(int operation, int dst, int imm) {
        return raw(Opcodes.ALU | operation | Opcodes.K, dst, 0, 0, imm);
    }

    /** A 32-bit operation with a register. */
    public Assembler alu32Reg(int operation, int dst, int src) {
        return raw(Opcodes.ALU | operation | Opcodes.X, dst, src, 0, 0);
    }

    /** {@code dst = value}, two slots. */
    public Assembler loadImm64(int dst, long value) {
        return loadImm64(dst, Opcodes.PSEUDO_NUMBER, (int) value, (int) (value >>> 32));
    }

    /** The address of the map with that file descriptor, two slots. */
    public Assembler loadMapFd(int dst, int fd) {
        return loadImm64(dst, Opcodes.PSEUDO_MAP_FD, fd, 0);
    }

    /** The address of the map that has that name in the object, two slots. */
    public Assembler loadMap(int dst, String name) {
        maps.put(slots.size(), name);
        return loadImm64(dst, 0);
    }

    /** The address {@code offset} bytes into the value of the array map with that file descriptor, two slots. */
    public Assembler loadMapValue(int dst, int fd, int offset) {
        return loadImm64(dst, Opcodes.PSEUDO_MAP_VALUE, fd, offset);
    }

    /** A two-slot load with any {@code PSEUDO_} source of {@link Opcodes}. */
    public Assembler loadImm64(int dst, int pseudoSource, int low, int high) {
        return raw(Opcodes.LD_IMM64, dst, pseudoSource, 0, low).raw(0, 0, 0, 0, high);
    }

    /** {@code dst = *(src + offset)}, zero-extended; {@code bytes} is 1, 2, 4 or 8. */
    public Assembler ldx(int bytes, int dst, int src, int offset) {
        return raw(Opcodes.LDX | Opcodes.MEM | Opcodes.sizeBits(bytes), dst, src, offset, 0);
    }

    /** {@code *(dst + offset) = src}; {@code bytes} is 1, 2, 4 or 8. */
    public Assembler stx(int bytes, int dst, int offset, int src) {
        return raw(Opcodes.STX | Opcodes.MEM | Opcodes.sizeBits(bytes), dst, src, offset, 0);
    }

    /** {@code *(dst + offset) = imm}; {@code bytes} is 1, 2, 4 or 8. */
    public Assembler st(int bytes, int dst, int offset, int imm) {
        return raw(Opcodes.ST | Opcodes.MEM | Opcodes.sizeBits(bytes), dst, 0, offset, imm);
    }

    /** An atomic on {@code *(dst + offset)}; {@code operation} as {@link Opcodes} lists them for atomics. */
    public Assembler atomic(int bytes, int operation, int dst, int offset, int src) {
        return raw(Opcodes.STX | Opcodes.ATOMIC | Opcodes.sizeBits(bytes), dst, src, offset, operation);
    }

    /** Calls the helper with that id. */
    public Assembler call(int helper) {
        return raw(Opcodes.JMP | Opcodes.CALL, 0, Opcodes.PSEUDO_HELPER_CALL, 0, helper);
    }

    /**
     * Calls a helper by its name, such as {@code bpf_map_lookup_elem}.
     *
     * @throws IllegalArgumentException if no helper has that name
     */
    public Assembler call(String helper) {
        return call(Helper.named(helper).number());
    }

    /** Calls the function that has that name in the object. */
    public Assembler callFunction(String name) {
        functions.put(slots.size(), name);
        return raw(Opcodes.JMP | Opcodes.CALL, 0, Opcodes.PSEUDO_CALL, 0, 0);
    }

    /**
     * The address of the function that has that name in the object, two slots (Linux 5.13): for helpers that call it
     * back, such as {@code bpf_for_each_map_elem}, and {@code bpf_loop} (Linux 5.17). All functions of the program then
     * need a type: {@code FunctionSpec.withType}.
     */
    public Assembler loadFunction(int dst, String name) {
        functions.put(slots.size(), name);
        return loadImm64(dst, Opcodes.PSEUDO_FUNC, 0, 0);
    }

    /** Calls the subprogram that starts at a label. */
    public Assembler callLabel(String label) {
        jumps.add(new Jump(slots.size(), label, true));
        return raw(Opcodes.JMP | Opcodes.CALL, 0, Opcodes.PSEUDO_CALL, 0, 0);
    }

    /** {@code goto label}. */
    public Assembler jump(String label) {
        jumps.add(new Jump(slots.size(), label, false));
        return raw(Opcodes.JMP | Opcodes.JA, 0, 0, 0, 0);
    }

    /** {@code if dst OP imm goto label}, on 64 bits. */
    public Assembler jump(int operation, int dst, int imm, String label) {
        jumps.add(new Jump(slots.size(), label, false));
        return raw(Opcodes.JMP | operation | Opcodes.K, dst, 0, 0, imm);
    }

    /** {@code if dst OP src goto label}, on 64 bits. */
    public Assembler jumpReg(int operation, int dst, int src, String label) {
        jumps.add(new Jump(slots.size(), label, false));
        return raw(Opcodes.JMP | operation | Opcodes.X, dst, src, 0, 0);
    }

    public Assembler exit() {
        return raw(Opcodes.JMP | Opcodes.EXIT, 0, 0, 0, 0);
    }

    /** Any slot. */
    public Assembler raw(int opcode, int dst, int src, int offset, int imm) {
        slots.add(new Instruction(opcode, dst, src, offset, imm));
        return this;
    }

    /**
     * Names the place of the next instruction.
     *
     * @throws IllegalStateException if the label already exists
     */
    public Assembler label(String name) {
        if (labels.putIfAbsent(name, slots.size()) != null) {
            throw new IllegalStateException("label " + name + " is defined twice");
        }
        return this;
    }

    /** The names of maps that {@link #loadMap} refers to, by the instruction's index in slots. */
    public Map<Integer, String> mapReferences() {
        return Collections.unmodifiableMap(new TreeMap<>(maps));
    }

    /** The names of functions that {@link #callFunction} and {@link #loadFunction} refer to, by the instruction's index in slots. */
    public Map<Integer, String> functionReferences() {
        return Collections.unmodifiableMap(new TreeMap<>(functions));
    }

    /**
     * The program, with all jumps resolved.
     *
     * @throws IllegalStateException if a label is missing, or the code refers to a map or a function by its name: only
     *     an object can resolve it
     */
    public List<Instruction> assemble() {
        if (!maps.isEmpty() || !functions.isEmpty()) {
            throw new IllegalStateException("the code refers to "
                    + (maps.isEmpty() ? "function \"" : "map \"")
                    + (maps.isEmpty() ? functions : maps).values().iterator().next()
                    + "\" by its name; FunctionSpec.of takes such code, for an object");
        }
        return instructions();
    }

    /**
     * The instructions as {@link #assemble}, where those that refer to a map or a function by its name have zero in
     * place of its address.
     *
     * @throws IllegalStateException if a label is missing
     */
    public List<Instruction> instructions() {
        List<Instruction> program = new ArrayList<>(slots);
        for (Jump jump : jumps) {
            Integer target = labels.get(jump.label());
            if (target == null) {
                throw new IllegalStateException("no label " + jump.label());
            }
            int distance = target - jump.index() - 1;
            Instruction slot = program.get(jump.index());
            program.set(jump.index(), jump.wide() ? slot.withImm(distance) : slot.withOffset(distance));
        }
        return List.copyOf(program);
    }
}
