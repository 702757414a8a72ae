package io.bpf4j.loader.internal.dryrun;

import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Opcodes;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Finds the instructions of a program that the verifier may reach.
 *
 * <p>A program for many kernels checks before use: {@code if (bpf_core_field_exists(…))}. Relocation turns the check
 * into a constant, and the verifier tracks constants: it never visits the excluded branch, and removes it. So a missing
 * feature is a problem only if its instruction is reachable. This class follows the verifier with less knowledge: a
 * constant here is also a constant for the verifier, and an instruction that is unreachable here is unreachable for the
 * verifier. The verifier may exclude more, because it also tracks ranges of values.
 *
 * <p>The state at an instruction is the content of each register: a number, an address in read-only data, some address, or
 * anything. States that meet are merged, and different contents become anything; each register can change at most
 * twice, so the walk terminates.
 *
 * <pre>
 *   r1 = 0                   relocated: the kernel has no such field
 *   if r1 == 0 goto +2       taken, always
 *   call unknown#195896080   not reached
 * </pre>
 *
 * <p>Options of kconfig are constants for the verifier and unknown here. Jumps that depend on them are assumed: one
 * walk takes all such jumps, another walk none. Instructions that both walks reach are reachable for all options,
 * except in programs that check several options in sequence.
 *
 * <i>Confined.</i>
 */
final class Reachability {
    /** As many as an instruction can name; the verifier knows the first 11. */
    private static final int REGISTERS = 16;

    /** The content of a register; null for anything. */
    private sealed interface Value {
        record Constant(long value) implements Value {}

        record MapValue(int map, long offset) implements Value {}

        /** The address of a map, a function or a variable of the kernel: not null. */
        record Address() implements Value {}

        /** A value computed from kconfig options. */
        record Option() implements Value {}
    }

    private final List<Instruction> code;
    private final BitSet indirect;
    private final ReadOnlyData constants;
    private final boolean optionsTaken;
    /** The registers at each instruction; null if no path has arrived there. The last are of all indirect jumps. */
    private final @Nullable Value[][] states;

    private final BitSet seen = new BitSet();
    private final Queue<Integer> waiting = new ArrayDeque<>();
    /** The instructions of {@link #waiting}: each is there once. */
    private final boolean[] queued;

    private Reachability(List<Instruction> code, BitSet indirect, ReadOnlyData constants, boolean optionsTaken) {
        this.code = code;
        this.indirect = indirect;
        this.constants = constants;
        this.optionsTaken = optionsTaken;
        this.states = new @Nullable Value[code.size() + 1][];
        this.queued = new boolean[code.size()];
    }

    /**
     * The slots that may be reached from the first.
     *
     * @param code a fully relocated program
     * @param indirect slots that indirect jumps may go to
     * @param optionsTaken whether jumps that depend on kconfig are taken
     */
    static BitSet of(List<Instruction> code, BitSet indirect, ReadOnlyData constants, boolean optionsTaken) {
        Reachability walk = new Reachability(code, indirect, constants, optionsTaken);
        walk.flow(0, new @Nullable Value[REGISTERS]);
        while (!walk.waiting.isEmpty()) {
            int next = walk.waiting.remove();
            walk.queued[next] = false;
            walk.step(next);
        }
        return walk.seen;
    }

    /** Merges a state into the one at an instruction; returns whether that has changed. */
    private boolean merge(int at, @Nullable Value[] arriving) {
        @Nullable Value[] known = states[at];
        if (known == null) {
            states[at] = arriving.clone();
            return true;
        }
        boolean changed = false;
        for (int i = 0; i < REGISTERS; i++) {
            Value value = known[i];
            if (value != null && !value.equals(arriving[i])) {
                known[i] = null;
                changed = true;
            }
        }
        return changed;
    }

    /** A state arrives at all targets of indirect jumps, at most once for each register. */
    private void flowIndirect(@Nullable Value[] arriving) {
        if (merge(code.size(), arriving)) {
            for (int target = indirect.nextSetBit(0); target >= 0; target = indirect.nextSetBit(target + 1)) {
                flow(target, states[code.size()]);
            }
        }
    }

    /** A state arrives at an instruction. */
    private void flow(int at, @Nullable Value[] arriving) {
        if (at < 0 || at >= code.size()) {
            return; // the verifier reports a jump out of the program
        }
        seen.set(at);
        if (merge(at, arriving) && !queued[at]) {
            queued[at] = true;
            waiting.add(at);
        }
    }

    private void step(int at) {
        Instruction instruction = code.get(at);
        @Nullable Value[] state = states[at].clone();
        switch (instruction.opClass()) {
            case Opcodes.LD -> {
                if (instruction.isLoadImm64()) {
                    load64(at, instruction, state);
                    flow(at + 2, state);
                    return;
                }
                state[0] = null; // the legacy loads of packets
                Arrays.fill(state, 1, 6, null);
            }
            case Opcodes.LDX -> state[instruction.dst()] = loaded(instruction, state);
            case Opcodes.ST -> {}
            case Opcodes.STX -> {
                if ((instruction.opcode() & Opcodes.MODE_MASK) == Opcodes.ATOMIC) {
                    atomic(instruction, state);
                }
            }
            case Opcodes.ALU -> state[instruction.dst()] = computed(instruction, state, false);
            case Opcodes.ALU64 -> state[instruction.dst()] = computed(instruction, state, true);
            default -> {
                jump(at, instruction, state);
                return;
            }
        }
        flow(at + 1, state);
    }

    private void load64(int at, Instruction instruction, @Nullable Value[] state) {
        if (at + 1 >= code.size()) {
            return;
        }
        Instruction second = code.get(at + 1);
        state[instruction.dst()] = switch (instruction.src()) {
            case Opcodes.PSEUDO_NUMBER -> new Value.Constant(instruction.imm64(second));
            case Opcodes.PSEUDO_MAP_VALUE ->
                new Value.MapValue(instruction.imm(), Integer.toUnsignedLong(second.imm()));
            case Opcodes.PSEUDO_FUNC -> {
                // A callback: its arguments are unknown.
                flow(at + 1 + instruction.imm(), new @Nullable Value[REGISTERS]);
                yield new Value.Address();
            }
            default -> new Value.Address();
        };
    }

    private @Nullable Value loaded(Instruction instruction, @Nullable Value[] state) {
        int mode = instruction.opcode() & Opcodes.MODE_MASK;
        if ((mode != Opcodes.MEM && mode != Opcodes.MEMSX)
                || !(state[instruction.src()] instanceof Value.MapValue mapValue)) {
            return null;
        }
        if (constants.isKconfig(mapValue.map())) {
            return new Value.Option();
        }
        int bytes = Opcodes.accessBytes(instruction.opcode());
        OptionalLong read = constants.read(mapValue.map(), mapValue.offset() + instruction.offset(), bytes);
        if (read.isEmpty()) {
            return null;
        }
        int unused = 64 - bytes * 8;
        long shifted = read.getAsLong() << unused;
        return new Value.Constant(mode == Opcodes.MEMSX ? shifted >> unused : shifted >>> unused);
    }

    private static void atomic(Instruction instruction, @Nullable Value[] state) {
        int operation = instruction.imm();
        if (operation == Opcodes.CMPXCHG) {
            state[0] = null;
        } else if (operation == Opcodes.LOAD_ACQ) {
            state[instruction.dst()] = null;
        } else if ((operation & Opcodes.FETCH) != 0) {
            state[instruction.src()] = null;
        }
    }

    private static @Nullable Value operand(Instruction instruction, @Nullable Value[] state) {
        return (instruction.opcode() & Opcodes.SOURCE_MASK) == Opcodes.X
                ? state[instruction.src()]
                : new Value.Constant(instruction.imm());
    }

    private static @Nullable Value computed(Instruction instruction, @Nullable Value[] state, boolean wide) {
        int operation = instruction.opcode() & Opcodes.OP_MASK;
        Value left = state[instruction.dst()];
        Value right = operand(instruction, state);
        if (operation == Opcodes.MOV && instruction.offset() == 0) {
            if (wide || right == null) {
                return right;
            }
            return switch (right) {
                case Value.Constant constant -> narrowed(constant.value());
                case Value.Option option -> option;
                case Value.MapValue _, Value.Address _ -> null;
            };
        }
        if (left instanceof Value.MapValue mapValue && right instanceof Value.Constant constant && wide) {
            return switch (operation) {
                case Opcodes.ADD -> new Value.MapValue(mapValue.map(), mapValue.offset() + constant.value());
                case Opcodes.SUB -> new Value.MapValue(mapValue.map(), mapValue.offset() - constant.value());
                default -> null;
            };
        }
        if (isOption(left, right) || isOption(right, left)) {
            return new Value.Option();
        }
        if (!(left instanceof Value.Constant a) || !(right instanceof Value.Constant b)) {
            return null;
        }
        return arithmetic(operation, a.value(), b.value(), wide);
    }

    /** Whether one value comes from kconfig and the other is not a runtime value. */
    private static boolean isOption(@Nullable Value one, @Nullable Value other) {
        return one instanceof Value.Option && (other instanceof Value.Option || other instanceof Value.Constant);
    }

    /** Other operations give anything: less precise, but still correct. */
    private static @Nullable Value arithmetic(int operation, long a, long b, boolean wide) {
        int shift = (int) (b & (wide ? 63 : 31));
        Long result = switch (operation) {
            case Opcodes.ADD -> a + b;
            case Opcodes.SUB -> a - b;
            case Opcodes.MUL -> a * b;
            case Opcodes.OR -> a | b;
            case Opcodes.AND -> a & b;
            case Opcodes.XOR -> a ^ b;
            case Opcodes.LSH -> a << shift;
            case Opcodes.RSH -> wide ? a >>> shift : (a & 0xffffffffL) >>> shift;
            case Opcodes.ARSH -> wide ? a >> shift : (long) ((int) a >> shift);
            case Opcodes.NEG -> -a;
            default -> null;
        };
        if (result == null) {
            return null;
        }
        return wide ? new Value.Constant(result) : narrowed(result);
    }

    /** An operation on 32 bits clears the upper half. */
    private static Value narrowed(long value) {
        return new Value.Constant(value & 0xffffffffL);
    }

    private void jump(int at, Instruction instruction, @Nullable Value[] state) {
        boolean narrow = instruction.opClass() == Opcodes.JMP32;
        int operation = instruction.opcode() & Opcodes.OP_MASK;
        switch (operation) {
            case Opcodes.JA -> {
                if ((instruction.opcode() & Opcodes.SOURCE_MASK) == Opcodes.X) {
                    // The jump's table isn't tracked: the jump may go to any target of any table.
                    flowIndirect(state);
                } else {
                    flow(at + 1 + (narrow ? instruction.imm() : instruction.offset()), state);
                }
            }
            case Opcodes.EXIT -> {}
            case Opcodes.CALL -> call(at, instruction, state);
            default -> {
                Boolean taken = taken(instruction, state, narrow);
                if (taken == null || taken) {
                    flow(at + 1 + instruction.offset(), state);
                }
                if (taken == null || !taken) {
                    flow(at + 1, state);
                }
            }
        }
    }

    private void call(int at, Instruction instruction, @Nullable Value[] state) {
        if (instruction.isSubprogramCall()) {
            @Nullable Value[] callee = new @Nullable Value[REGISTERS];
            System.arraycopy(state, 1, callee, 1, 5);
            flow(at + 1 + instruction.imm(), callee);
        }
        Arrays.fill(state, 0, 6, null);
        flow(at + 1, state);
    }

    /** Whether a conditional jump is taken; null if unknown. */
    private @Nullable Boolean taken(Instruction instruction, @Nullable Value[] state, boolean narrow) {
        Value one = state[instruction.dst()];
        Value other = operand(instruction, state);
        if (isOption(one, other) || isOption(other, one)) {
            return optionsTaken;
        }
        if (!narrow && (one instanceof Value.Address || one instanceof Value.MapValue) && isZero(other)) {
            return switch (instruction.opcode() & Opcodes.OP_MASK) {
                case Opcodes.JEQ -> false;
                case Opcodes.JNE -> true;
                default -> null;
            };
        }
        if (!(one instanceof Value.Constant left) || !(other instanceof Value.Constant right)) {
            return null;
        }
        long a = narrow ? (int) left.value() : left.value();
        long b = narrow ? (int) right.value() : right.value();
        // Sign extension keeps the order of unsigned numbers, too.
        int unsigned = Long.compareUnsigned(a, b);
        return switch (instruction.opcode() & Opcodes.OP_MASK) {
            case Opcodes.JEQ -> a == b;
            case Opcodes.JNE -> a != b;
            case Opcodes.JGT -> unsigned > 0;
            case Opcodes.JGE -> unsigned >= 0;
            case Opcodes.JLT -> unsigned < 0;
            case Opcodes.JLE -> unsigned <= 0;
            case Opcodes.JSGT -> a > b;
            case Opcodes.JSGE -> a >= b;
            case Opcodes.JSLT -> a < b;
            case Opcodes.JSLE -> a <= b;
            case Opcodes.JSET -> (a & b) != 0;
            default -> null;
        };
    }

    private static boolean isZero(@Nullable Value value) {
        return value instanceof Value.Constant constant && constant.value() == 0;
    }
}
