package io.bpf4j.insn;

/**
 * One 8-byte slot of a BPF program, laid out as {@code struct bpf_insn} in {@code include/uapi/linux/bpf.h}.
 *
 * <pre>
 *   byte  0        1             2..3      4..7
 *         opcode   registers     offset    imm
 *                  4 bits each   s16       s32
 *
 *   b7 00 00 00 2a 00 00 00      r0 = 42   (ALU64 | MOV | K, little-endian)
 * </pre>
 *
 * <p>It is one flat record rather than a type per operation, because relocation edits fields of instructions by opcode.
 * A 64-bit immediate load ({@link #isLoadImm64()}) takes two slots: the second has opcode 0 and the upper half of the
 * value in {@code imm}; a list of instructions is a list of slots, so jump distances and the byte offsets of ELF
 * relocations (8 times the index) need no translation. <i>Immutable.</i>
 *
 * @param opcode 0..255, see {@link Opcodes}
 * @param dst destination register, 0..15 (valid programs use 0..10)
 * @param src source register or one of {@link Opcodes}' {@code PSEUDO_} constants, 0..15
 * @param offset signed 16-bit: a memory displacement in bytes, or a jump distance in slots from the next slot
 * @param imm signed 32-bit immediate
 */
public record Instruction(int opcode, int dst, int src, int offset, int imm) {
    /** Size of a slot in bytes. */
    public static final int SIZE = 8;

    public Instruction {
        check("opcode", opcode, 0, 0xff);
        check("dst", dst, 0, 15);
        check("src", src, 0, 15);
        check("offset", offset, Short.MIN_VALUE, Short.MAX_VALUE);
    }

    private static void check(String field, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(
                    "instruction field " + field + " is " + value + ", outside " + min + ".." + max);
        }
    }

    /** The lowest three bits of the opcode: {@link Opcodes#LD} to {@link Opcodes#ALU64}. */
    public int opClass() {
        return opcode & Opcodes.CLASS_MASK;
    }

    /** Whether this is the first slot of a two-slot 64-bit immediate load. */
    public boolean isLoadImm64() {
        return opcode == Opcodes.LD_IMM64;
    }

    /** Whether this is a call: of a helper, a subprogram or a kernel function. */
    public boolean isCall() {
        return opcode == (Opcodes.JMP | Opcodes.CALL);
    }

    /** Whether this calls a helper by its id in {@code imm}. */
    public boolean isHelperCall() {
        return isCall() && src == Opcodes.PSEUDO_HELPER_CALL;
    }

    /** Whether this calls a subprogram; {@code imm} is then the distance in slots from the next slot. */
    public boolean isSubprogramCall() {
        return isCall() && src == Opcodes.PSEUDO_CALL;
    }

    /** Whether this calls a kernel function; {@code imm} is then the BTF id of the function. */
    public boolean isKernelFunctionCall() {
        return isCall() && src == Opcodes.PSEUDO_KFUNC_CALL;
    }

    /** Whether this loads the address of a subprogram (a callback); {@code imm} is the distance as in a call. */
    public boolean isSubprogramAddress() {
        return isLoadImm64() && src == Opcodes.PSEUDO_FUNC;
    }

    /** The 64-bit value of a two-slot load whose second slot is {@code second}. */
    public long imm64(Instruction second) {
        return (imm & 0xffff_ffffL) | ((long) second.imm << 32);
    }

    public Instruction withOpcode(int newOpcode) {
        return new Instruction(newOpcode, dst, src, offset, imm);
    }

    public Instruction withSrc(int newSrc) {
        return new Instruction(opcode, dst, newSrc, offset, imm);
    }

    public Instruction withOffset(int newOffset) {
        return new Instruction(opcode, dst, src, newOffset, imm);
    }

    public Instruction withImm(int newImm) {
        return new Instruction(opcode, dst, src, offset, newImm);
    }

    /** The instruction as the verifier's log would show it. */
    @Override
    public String toString() {
        return Disassembler.describe(this);
    }
}
