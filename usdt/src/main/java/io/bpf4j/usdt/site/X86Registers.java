package io.bpf4j.usdt.site;

/**
 * The registers of x86-64 and i386. Offsets mirror {@code struct pt_regs} of arch/x86/include/uapi/asm/ptrace.h: 21
 * longs, r15 first.
 *
 * <p>The value in {@code rax} may be named rax, eax, ax or al; the declared size, not the name, gives the size of the
 * value. ah is the exception: it is the second byte of rax, so it is a register of its own at the next byte.
 */
final class X86Registers {
    static final Registers X86_64 = new Registers()
            .addHalves(0, 8, "r15", "r15d", "r15w", "r15b")
            .addHalves(8, 8, "r14", "r14d", "r14w", "r14b")
            .addHalves(16, 8, "r13", "r13d", "r13w", "r13b")
            .addHalves(24, 8, "r12", "r12d", "r12w", "r12b")
            .addHalves(32, 8, "rbp", "ebp", "bp", "bpl")
            .addHalves(40, 8, "rbx", "ebx", "bx", "bl")
            .addHalves(48, 8, "r11", "r11d", "r11w", "r11b")
            .addHalves(56, 8, "r10", "r10d", "r10w", "r10b")
            .addHalves(64, 8, "r9", "r9d", "r9w", "r9b")
            .addHalves(72, 8, "r8", "r8d", "r8w", "r8b")
            .addHalves(80, 8, "rax", "eax", "ax", "al")
            .addHalves(88, 8, "rcx", "ecx", "cx", "cl")
            .addHalves(96, 8, "rdx", "edx", "dx", "dl")
            .addHalves(104, 8, "rsi", "esi", "si", "sil")
            .addHalves(112, 8, "rdi", "edi", "di", "dil")
            .addHalves(128, 8, "rip", "eip")
            .addHalves(152, 8, "rsp", "esp", "sp", "spl")
            .add(41, 1, "bh")
            .add(81, 1, "ah")
            .add(89, 1, "ch")
            .add(97, 1, "dh");

    /**
     * Offsets are those of x86-64: a BPF program gets the registers of the kernel, and bpf4j runs on 64-bit kernels
     * only, which save {@code eax} of a 32-bit process in the slot of {@code rax}, zero-extended.
     */
    static final Registers I386 = new Registers()
            .addHalves(32, 4, "ebp", "bp")
            .addHalves(40, 4, "ebx", "bx", "bl")
            .addHalves(80, 4, "eax", "ax", "al")
            .addHalves(88, 4, "ecx", "cx", "cl")
            .addHalves(96, 4, "edx", "dx", "dl")
            .addHalves(104, 4, "esi", "si")
            .addHalves(112, 4, "edi", "di")
            .addHalves(128, 4, "eip")
            .addHalves(152, 4, "esp", "sp")
            .add(41, 1, "bh")
            .add(81, 1, "ah")
            .add(89, 1, "ch")
            .add(97, 1, "dh");

    private X86Registers() {}
}
