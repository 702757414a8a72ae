package io.bpf4j.insn;

/**
 * The parts of an opcode, combined with {@code |}: class, then size and mode for memory, or source and operation for
 * arithmetic and jumps.
 *
 * <p>Values: {@code include/uapi/linux/bpf_common.h} and {@code include/uapi/linux/bpf.h}; meaning:
 * {@code Documentation/bpf/standardization/instruction-set.rst}. They are {@code int} constants and not enums because
 * the kernel adds values and several are reused across classes.
 *
 * <p>Tested by {@code InstructionsTest} and {@code DisassemblerTest}.
 */
public final class Opcodes {
    /** The bits of the instruction class. */
    public static final int CLASS_MASK = 0x07;

    // Instruction classes
    /** Non-standard loads: 64-bit immediates and the legacy packet access. */
    public static final int LD = 0x00;
    /** Load from memory into a register. */
    public static final int LDX = 0x01;
    /** Store an immediate to memory. */
    public static final int ST = 0x02;
    /** Store a register to memory; atomics. */
    public static final int STX = 0x03;
    /** 32-bit arithmetic; the upper half of the destination becomes zero. */
    public static final int ALU = 0x04;
    /** 64-bit comparisons and jumps, calls, exit. */
    public static final int JMP = 0x05;
    /** 32-bit comparisons and jumps. */
    public static final int JMP32 = 0x06;
    /** 64-bit arithmetic. */
    public static final int ALU64 = 0x07;

    // Operand size of LD, LDX, ST, STX
    public static final int SIZE_MASK = 0x18;
    /** 4 bytes. */
    public static final int W = 0x00;
    /** 2 bytes. */
    public static final int H = 0x08;
    /** 1 byte. */
    public static final int B = 0x10;
    /** 8 bytes. */
    public static final int DW = 0x18;

    // Mode of LD, LDX, ST, STX
    public static final int MODE_MASK = 0xe0;
    public static final int IMM = 0x00;
    public static final int ABS = 0x20;
    public static final int IND = 0x40;
    public static final int MEM = 0x60;
    /** Load with sign extension, since Linux 6.6. */
    public static final int MEMSX = 0x80;

    public static final int ATOMIC = 0xc0;

    // The source of the second operand of arithmetic and jumps
    public static final int SOURCE_MASK = 0x08;
    /** The immediate. */
    public static final int K = 0x00;
    /** The source register. */
    public static final int X = 0x08;

    // Operation of ALU, ALU64, JMP, JMP32
    public static final int OP_MASK = 0xf0;
    public static final int ADD = 0x00;
    public static final int SUB = 0x10;
    public static final int MUL = 0x20;
    /** Signed if {@code offset} is 1. */
    public static final int DIV = 0x30;

    public static final int OR = 0x40;
    public static final int AND = 0x50;
    public static final int LSH = 0x60;
    public static final int RSH = 0x70;
    public static final int NEG = 0x80;
    /** Signed if {@code offset} is 1. */
    public static final int MOD = 0x90;

    public static final int XOR = 0xa0;
    /** Sign-extending from 8, 16 or 32 bits if {@code offset} is that number. */
    public static final int MOV = 0xb0;

    public static final int ARSH = 0xc0;
    /** Byte swap; {@code imm} is the width in bits. */
    public static final int END = 0xd0;

    public static final int JA = 0x00;
    public static final int JEQ = 0x10;
    public static final int JGT = 0x20;
    public static final int JGE = 0x30;
    public static final int JSET = 0x40;
    public static final int JNE = 0x50;
    public static final int JSGT = 0x60;
    public static final int JSGE = 0x70;
    public static final int CALL = 0x80;
    public static final int EXIT = 0x90;
    public static final int JLT = 0xa0;
    public static final int JLE = 0xb0;
    public static final int JSLT = 0xc0;
    public static final int JSLE = 0xd0;
    /** {@code may_goto}, since Linux 6.9. */
    public static final int JCOND = 0xe0;

    // The immediate of an atomic: an ALU operation, with FETCH to return the old value, or one of these
    public static final int FETCH = 0x01;
    public static final int XCHG = 0xe0 | FETCH;
    public static final int CMPXCHG = 0xf0 | FETCH;
    /** Since Linux 6.15. */
    public static final int LOAD_ACQ = 0x100;
    /** Since Linux 6.15. */
    public static final int STORE_REL = 0x110;

    /** {@code offset} of a MOV that casts between the address spaces of an arena, since Linux 6.9. */
    public static final int ADDR_SPACE_CAST = 1;

    /** The first slot of a 64-bit immediate load: {@code LD | IMM | DW}. */
    public static final int LD_IMM64 = LD | IMM | DW;

    // src of a 64-bit immediate load: the meaning of the immediate (BPF_PSEUDO_ of bpf.h)
    /** A plain number. */
    public static final int PSEUDO_NUMBER = 0;
    /** The address of a map: {@code imm} is its file descriptor. */
    public static final int PSEUDO_MAP_FD = 1;
    /** The address inside an array map's value: {@code imm} the descriptor, second {@code imm} the byte offset. */
    public static final int PSEUDO_MAP_VALUE = 2;
    /**
     * The address of a kernel variable: {@code imm} its BTF id, second {@code imm} the descriptor of a module's BTF.
     */
    public static final int PSEUDO_BTF_ID = 3;
    /** The address of a subprogram: {@code imm} is the distance in slots from the next slot. */
    public static final int PSEUDO_FUNC = 4;
    /** As {@link #PSEUDO_MAP_FD}, but {@code imm} is an index into the {@code fd_array} of BPF_PROG_LOAD. */
    public static final int PSEUDO_MAP_IDX = 5;
    /** As {@link #PSEUDO_MAP_VALUE}, but the first {@code imm} is an index into {@code fd_array}. */
    public static final int PSEUDO_MAP_IDX_VALUE = 6;

    // src of a call: the meaning of the immediate
    /** A helper: {@code imm} is its id. */
    public static final int PSEUDO_HELPER_CALL = 0;
    /** A subprogram: {@code imm} is the distance in slots from the next slot. */
    public static final int PSEUDO_CALL = 1;
    /** A kernel function: {@code imm} is its BTF id, {@code offset} an index into {@code fd_array} (0: vmlinux). */
    public static final int PSEUDO_KFUNC_CALL = 2;

    private Opcodes() {}

    /** Bytes that a memory instruction of this opcode moves: 1, 2, 4 or 8. */
    public static int accessBytes(int opcode) {
        return switch (opcode & SIZE_MASK) {
            case W -> 4;
            case H -> 2;
            case B -> 1;
            default -> 8;
        };
    }

    /**
     * The size bits for an access of that many bytes.
     *
     * @throws IllegalArgumentException if it isn't 1, 2, 4 or 8
     */
    public static int sizeBits(int bytes) {
        return switch (bytes) {
            case 1 -> B;
            case 2 -> H;
            case 4 -> W;
            case 8 -> DW;
            default -> throw new IllegalArgumentException("no memory access of " + bytes + " bytes");
        };
    }
}
