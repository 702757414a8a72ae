package io.bpf4j.usdt.internal.arg;

import io.bpf4j.usdt.site.UsdtArg.Operand;
import java.util.Optional;

/**
 * x86-64. Operands are {@link AttSyntax AT&amp;T's}. Offsets mirror {@code struct pt_regs} of
 * arch/x86/include/uapi/asm/ptrace.h: 21 longs, r15 first.
 */
public final class X86_64 extends ArgGrammar {
    /**
     * The value in {@code rax} may be named rax, eax, ax or al; the declared size, not the name, gives the size of the
     * value. ah is the exception: it is the second byte of rax, so it is a register of its own at the next byte.
     */
    static final Registers REGISTERS = new Registers()
            .add(0, 8, "r15")
            .alias("r15", 4, "r15d")
            .alias("r15", 2, "r15w")
            .alias("r15", 1, "r15b")
            .add(8, 8, "r14")
            .alias("r14", 4, "r14d")
            .alias("r14", 2, "r14w")
            .alias("r14", 1, "r14b")
            .add(16, 8, "r13")
            .alias("r13", 4, "r13d")
            .alias("r13", 2, "r13w")
            .alias("r13", 1, "r13b")
            .add(24, 8, "r12")
            .alias("r12", 4, "r12d")
            .alias("r12", 2, "r12w")
            .alias("r12", 1, "r12b")
            .add(32, 8, "rbp")
            .alias("rbp", 4, "ebp")
            .alias("rbp", 2, "bp")
            .alias("rbp", 1, "bpl")
            .add(40, 8, "rbx")
            .alias("rbx", 4, "ebx")
            .alias("rbx", 2, "bx")
            .alias("rbx", 1, "bl")
            .add(48, 8, "r11")
            .alias("r11", 4, "r11d")
            .alias("r11", 2, "r11w")
            .alias("r11", 1, "r11b")
            .add(56, 8, "r10")
            .alias("r10", 4, "r10d")
            .alias("r10", 2, "r10w")
            .alias("r10", 1, "r10b")
            .add(64, 8, "r9")
            .alias("r9", 4, "r9d")
            .alias("r9", 2, "r9w")
            .alias("r9", 1, "r9b")
            .add(72, 8, "r8")
            .alias("r8", 4, "r8d")
            .alias("r8", 2, "r8w")
            .alias("r8", 1, "r8b")
            .add(80, 8, "rax")
            .alias("rax", 4, "eax")
            .alias("rax", 2, "ax")
            .alias("rax", 1, "al")
            .add(88, 8, "rcx")
            .alias("rcx", 4, "ecx")
            .alias("rcx", 2, "cx")
            .alias("rcx", 1, "cl")
            .add(96, 8, "rdx")
            .alias("rdx", 4, "edx")
            .alias("rdx", 2, "dx")
            .alias("rdx", 1, "dl")
            .add(104, 8, "rsi")
            .alias("rsi", 4, "esi")
            .alias("rsi", 2, "si")
            .alias("rsi", 1, "sil")
            .add(112, 8, "rdi")
            .alias("rdi", 4, "edi")
            .alias("rdi", 2, "di")
            .alias("rdi", 1, "dil")
            .add(128, 8, "rip")
            .alias("rip", 4, "eip")
            .add(152, 8, "rsp")
            .alias("rsp", 4, "esp")
            .alias("rsp", 2, "sp")
            .alias("rsp", 1, "spl")
            .add(41, 1, "bh")
            .add(81, 1, "ah")
            .add(89, 1, "ch")
            .add(97, 1, "dh");

    // After the registers, which its constructor uses.
    static final X86_64 INSTANCE = new X86_64();

    private final AttSyntax syntax = new AttSyntax(REGISTERS, "rip");

    private X86_64() {
        super("x86_64", 8, "rip", REGISTERS);
    }

    @Override
    Optional<Operand> parse(String text, int size) {
        return syntax.parse(text, size);
    }

    @Override
    int widthOf(String text) {
        return syntax.widthOf(text, 8);
    }

    @Override
    String print(Operand operand) {
        return syntax.print(operand);
    }
}
