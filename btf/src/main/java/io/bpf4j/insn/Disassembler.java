package io.bpf4j.insn;

import java.util.ArrayList;
import java.util.List;

/**
 * Prints instructions in the syntax of the kernel's disassembler ({@code kernel/bpf/disasm.c}), so that the output can
 * be compared with the verifier log.
 *
 * <pre>
 *   0: (b7) r1 = 5
 *   1: (63) *(u32 *)(r10 -4) = r1
 *   2: (18) r1 = map[fd:7]
 *   4: (85) call bpf_map_lookup_elem#1
 *   5: (15) if r0 == 0x0 goto pc+1
 * </pre>
 *
 * <p>If the kernel would print an address, this class prints the target of the load: {@code map[fd:7]}, {@code
 * map[fd:7]+16} (inside the value), {@code btf[4711]}, {@code subprog[pc+12]}.
 */
final class Disassembler {
    /** {@code BPF_ADDR_PERCPU}: only the verifier makes this MOV, for the address of this CPU's value (Linux 6.10). */
    private static final int ADDR_PERCPU = -1;

    private Disassembler() {}

    /** One line per instruction, each with its slot index; a 64-bit load takes one line and two indexes. */
    static List<String> lines(List<Instruction> slots) {
        List<String> lines = new ArrayList<>(slots.size());
        for (int i = 0; i < slots.size(); i++) {
            Instruction slot = slots.get(i);
            boolean wide = slot.isLoadImm64() && i + 1 < slots.size();
            lines.add("%d: (%02x) %s"
                    .formatted(i, slot.opcode(), wide ? describe(slot, slots.get(i + 1)) : describe(slot)));
            if (wide) {
                i++;
            }
        }
        return List.copyOf(lines);
    }

    /** A two-slot load as text, without its index. */
    static String describe(Instruction first, Instruction second) {
        String value = switch (first.src()) {
            case Opcodes.PSEUDO_NUMBER -> "0x" + Long.toHexString(first.imm64(second));
            case Opcodes.PSEUDO_MAP_FD -> "map[fd:" + first.imm() + "]";
            case Opcodes.PSEUDO_MAP_IDX -> "map[idx:" + first.imm() + "]";
            case Opcodes.PSEUDO_MAP_VALUE -> "map[fd:" + first.imm() + "]" + signed(second.imm());
            case Opcodes.PSEUDO_MAP_IDX_VALUE -> "map[idx:" + first.imm() + "]" + signed(second.imm());
            case Opcodes.PSEUDO_BTF_ID -> "btf[" + first.imm() + "]";
            case Opcodes.PSEUDO_FUNC -> "subprog[pc" + signed(first.imm()) + "]";
            default -> "pseudo" + first.src() + "[0x" + Long.toHexString(first.imm64(second)) + "]";
        };
        return "r" + first.dst() + " = " + value;
    }

    /** One slot as text, without its index. The upper half of a 64-bit load is unknown here and shown as zero. */
    static String describe(Instruction slot) {
        return switch (slot.opClass()) {
            case Opcodes.LD -> load(slot);
            case Opcodes.LDX -> loadMemory(slot);
            case Opcodes.ST -> memory(slot) + " = " + slot.imm();
            case Opcodes.STX -> store(slot);
            case Opcodes.ALU, Opcodes.ALU64 -> arithmetic(slot);
            default -> jump(slot);
        };
    }

    private static String load(Instruction slot) {
        String type = "*(" + width("u", slot) + " *)skb";
        return switch (slot.opcode() & Opcodes.MODE_MASK) {
            case Opcodes.IMM -> slot.isLoadImm64() ? describe(slot, slot.withImm(0)) : unknown(slot);
            case Opcodes.ABS -> "r0 = " + type + "[" + slot.imm() + "]";
            case Opcodes.IND -> "r0 = " + type + "[r" + slot.src() + " + " + slot.imm() + "]";
            default -> unknown(slot);
        };
    }

    private static String loadMemory(Instruction slot) {
        String sign = switch (slot.opcode() & Opcodes.MODE_MASK) {
            case Opcodes.MEM -> "u";
            case Opcodes.MEMSX -> "s";
            default -> "";
        };
        if (sign.isEmpty()) {
            return unknown(slot);
        }
        return "r%d = *(%s *)(r%d %+d)".formatted(slot.dst(), width(sign, slot), slot.src(), slot.offset());
    }

    private static String store(Instruction slot) {
        return switch (slot.opcode() & Opcodes.MODE_MASK) {
            case Opcodes.MEM -> memory(slot) + " = r" + slot.src();
            case Opcodes.ATOMIC -> atomic(slot);
            default -> unknown(slot);
        };
    }

    private static String atomic(Instruction slot) {
        String wide = Opcodes.accessBytes(slot.opcode()) == 8 ? "64" : "";
        String place = "(%s *)(r%d %+d)".formatted(width("u", slot), slot.dst(), slot.offset());
        int operation = slot.imm();
        return switch (operation) {
            case Opcodes.ADD, Opcodes.AND, Opcodes.OR, Opcodes.XOR ->
                "lock " + memory(slot) + " " + operator(operation) + " r" + slot.src();
            case Opcodes.ADD | Opcodes.FETCH,
                    Opcodes.AND | Opcodes.FETCH,
                    Opcodes.OR | Opcodes.FETCH,
                    Opcodes.XOR | Opcodes.FETCH ->
                "r%d = atomic%s_fetch_%s(%s, r%d)"
                        .formatted(slot.src(), wide, atomicName(operation & ~Opcodes.FETCH), place, slot.src());
            case Opcodes.CMPXCHG -> "r0 = atomic%s_cmpxchg(%s, r0, r%d)".formatted(wide, place, slot.src());
            case Opcodes.XCHG -> "r%d = atomic%s_xchg(%s, r%d)".formatted(slot.src(), wide, place, slot.src());
            case Opcodes.LOAD_ACQ ->
                "r%d = load_acquire((%s *)(r%d %+d))"
                        .formatted(slot.dst(), width("u", slot), slot.src(), slot.offset());
            case Opcodes.STORE_REL -> "store_release(%s, r%d)".formatted(place, slot.src());
            default -> unknown(slot);
        };
    }

    private static String atomicName(int operation) {
        return switch (operation) {
            case Opcodes.ADD -> "add";
            case Opcodes.AND -> "and";
            case Opcodes.OR -> "or";
            default -> "xor";
        };
    }

    private static String arithmetic(Instruction slot) {
        boolean is64 = slot.opClass() == Opcodes.ALU64;
        String register = is64 ? "r" : "w";
        String dst = register + slot.dst();
        int operation = slot.opcode() & Opcodes.OP_MASK;
        boolean fromRegister = (slot.opcode() & Opcodes.SOURCE_MASK) == Opcodes.X;
        String src = fromRegister ? register + slot.src() : Integer.toString(slot.imm());
        return switch (operation) {
            case Opcodes.NEG -> dst + " = -" + dst;
            case Opcodes.END -> {
                String swap = is64 ? "bswap" : fromRegister ? "be" : "le";
                yield "r%d = %s%d r%d".formatted(slot.dst(), swap, slot.imm(), slot.dst());
            }
            case Opcodes.MOV -> {
                if (fromRegister && is64 && slot.offset() == Opcodes.ADDR_SPACE_CAST) {
                    yield "%s = addr_space_cast(%s, %d, %d)"
                            .formatted(dst, src, slot.imm() >>> 16, slot.imm() & 0xffff);
                }
                if (fromRegister && is64 && slot.offset() == ADDR_PERCPU) {
                    yield "%s = &(void __percpu *)(%s)".formatted(dst, src);
                }
                yield slot.offset() == 0 ? dst + " = " + src : dst + " = (s" + slot.offset() + ")" + src;
            }
            default -> {
                String operator = operator(operation);
                boolean signedDivision = slot.offset() == 1 && (operation == Opcodes.DIV || operation == Opcodes.MOD);
                yield operator.isEmpty()
                        ? unknown(slot)
                        : dst + " " + (signedDivision ? "s" : "") + operator + " " + src;
            }
        };
    }

    private static String operator(int operation) {
        return switch (operation) {
            case Opcodes.ADD -> "+=";
            case Opcodes.SUB -> "-=";
            case Opcodes.MUL -> "*=";
            case Opcodes.DIV -> "/=";
            case Opcodes.OR -> "|=";
            case Opcodes.AND -> "&=";
            case Opcodes.LSH -> "<<=";
            case Opcodes.RSH -> ">>=";
            case Opcodes.MOD -> "%=";
            case Opcodes.XOR -> "^=";
            case Opcodes.ARSH -> "s>>=";
            default -> "";
        };
    }

    private static String jump(Instruction slot) {
        boolean is64 = slot.opClass() == Opcodes.JMP;
        return switch (slot.opcode() & Opcodes.OP_MASK) {
            case Opcodes.JA -> always(slot, is64);
            case Opcodes.CALL -> call(slot);
            case Opcodes.EXIT -> "exit";
            case Opcodes.JCOND -> "may_goto pc" + signed(slot.offset());
            default -> conditional(slot, is64 ? "r" : "w");
        };
    }

    /** The indirect jump, through a register, is the newest of the three: Linux 6.19. */
    private static String always(Instruction slot, boolean is64) {
        if (!is64) {
            return "gotol pc" + signed(slot.imm());
        }
        return (slot.opcode() & Opcodes.SOURCE_MASK) == Opcodes.X
                ? "gotox r" + slot.dst()
                : "goto pc" + signed(slot.offset());
    }

    private static String conditional(Instruction slot, String register) {
        String comparison = switch (slot.opcode() & Opcodes.OP_MASK) {
            case Opcodes.JEQ -> "==";
            case Opcodes.JGT -> ">";
            case Opcodes.JGE -> ">=";
            case Opcodes.JSET -> "&";
            case Opcodes.JNE -> "!=";
            case Opcodes.JSGT -> "s>";
            case Opcodes.JSGE -> "s>=";
            case Opcodes.JLT -> "<";
            case Opcodes.JLE -> "<=";
            case Opcodes.JSLT -> "s<";
            case Opcodes.JSLE -> "s<=";
            default -> "";
        };
        if (comparison.isEmpty()) {
            return unknown(slot);
        }
        String right = (slot.opcode() & Opcodes.SOURCE_MASK) == Opcodes.X
                ? register + slot.src()
                : "0x" + Integer.toHexString(slot.imm());
        return "if %s%d %s %s goto pc%+d".formatted(register, slot.dst(), comparison, right, slot.offset());
    }

    private static String call(Instruction slot) {
        return switch (slot.src()) {
            case Opcodes.PSEUDO_HELPER_CALL -> "call " + new Helper(slot.imm()).name() + "#" + slot.imm();
            case Opcodes.PSEUDO_CALL -> "call pc" + signed(slot.imm());
            case Opcodes.PSEUDO_KFUNC_CALL -> "call kernel-function#" + slot.imm();
            default -> unknown(slot);
        };
    }

    private static String memory(Instruction slot) {
        return "*(%s *)(r%d %+d)".formatted(width("u", slot), slot.dst(), slot.offset());
    }

    private static String width(String sign, Instruction slot) {
        return sign + 8 * Opcodes.accessBytes(slot.opcode());
    }

    private static String signed(int distance) {
        return "%+d".formatted(distance);
    }

    private static String unknown(Instruction slot) {
        return "unknown opcode 0x%02x".formatted(slot.opcode());
    }
}
