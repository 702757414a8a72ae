package io.bpf4j.usdt.internal.arg;

import io.bpf4j.usdt.site.UsdtArg.Operand;
import java.util.Optional;

/**
 * i386. Operands are {@link AttSyntax AT&amp;T's}.
 *
 * <p>Offsets are those of x86-64: a BPF program gets the registers of the kernel, and bpf4j runs on 64-bit kernels
 * only, which save {@code eax} of a 32-bit process in the slot of {@code rax}, zero-extended.
 */
public final class I386 extends ArgGrammar {
    private static final Registers REGISTERS = new Registers()
            .add(32, 4, "ebp")
            .alias("ebp", 2, "bp")
            .add(40, 4, "ebx")
            .alias("ebx", 2, "bx")
            .alias("ebx", 1, "bl")
            .add(80, 4, "eax")
            .alias("eax", 2, "ax")
            .alias("eax", 1, "al")
            .add(88, 4, "ecx")
            .alias("ecx", 2, "cx")
            .alias("ecx", 1, "cl")
            .add(96, 4, "edx")
            .alias("edx", 2, "dx")
            .alias("edx", 1, "dl")
            .add(104, 4, "esi")
            .alias("esi", 2, "si")
            .add(112, 4, "edi")
            .alias("edi", 2, "di")
            .add(128, 4, "eip")
            .add(152, 4, "esp")
            .alias("esp", 2, "sp")
            .add(41, 1, "bh")
            .add(81, 1, "ah")
            .add(89, 1, "ch")
            .add(97, 1, "dh");

    // After the registers, which its constructor uses.
    static final I386 INSTANCE = new I386();

    private final AttSyntax syntax = new AttSyntax(REGISTERS, "eip");

    private I386() {
        super("i386", 4, "eip", REGISTERS);
    }

    @Override
    Optional<Operand> parse(String text, int size) {
        return syntax.parse(text, size).map(operand -> notHalfOfPair(operand, size));
    }

    @Override
    int widthOf(String text) {
        return syntax.widthOf(text, 4);
    }

    @Override
    String print(Operand operand) {
        return syntax.print(operand);
    }
}
