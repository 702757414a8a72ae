package io.bpf4j.usdt;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtArg;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the vectors don't have: rarer forms of the other machines' operands, and those that are refused. */
class OtherMachinesTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            AARCH64     | 8@[x0, x1, lsl 2]       | Sib(8,u,x0+0+x1*4)
            AARCH64     | 8@[x0, x1, lsl #3]      | Sib(8,u,x0+0+x1*8)
            AARCH64     | -4@[x2, #:lo12:sym+8]   | Dereference(4,s,pc+8+sym)
            AARCH64     | 4@wzr                   | Constant(4,u,0)
            AARCH64     | 8@[x29, #-16]           | Dereference(8,u,x29-16)
            AARCH64     | 8@lr                    | Register(8,u,x30)
            AARCH64     | w3                      | Register(4,u,x3)
            AARCH64     | 8f@d0                   | Unsupported: vector
            AARCH64     | 8@[x0, w1, sxtw 3]      | Sib(8,u,x0+0+x1[-4]*8)
            AARCH64     | -4@[x0, w1, sxtw]       | Sib(4,s,x0+0+x1[-4]*1)
            AARCH64     | 4@[x0, w1, sxtw #2]     | Sib(4,u,x0+0+x1[-4]*4)
            AARCH64     | 4@[x0, w1, uxtw]        | Sib(4,u,x0+0+x1[4]*1)
            AARCH64     | 8@[sp, w30, uxtw 3]     | Sib(8,u,sp+0+x30[4]*8)
            AARCH64     | 8@[x0, w1]              | Unsupported: how its index register is extended
            AARCH64     | 8@[x0, w1, lsl 3]       | Unsupported: how its index register is extended
            AARCH64     | 8@[x0, x1, sxtw 3]      | Unsupported: how its index register is extended
            AARCH64     | 8@[x0, w1, sxtw 4]      | Unsupported: 0 to 3
            AARCH64     | 8@[x0, w1, sxth]        | Unsupported: not an operand
            AARCH64     | 8@[x0, 8]!              | Unsupported: changes its base
            AARCH64     | 8@[x0], 8               | Unsupported: changes its base
            AARCH64     | 8@[x0, x1, lsl 4]       | Unsupported: 0 to 3
            AARCH64     | 8@[x0, #:got_lo12:sym]  | Unsupported: linker
            AARCH64     | 8@sym                   | Unsupported: address of 'sym'
            AARCH64     | 8@[x31]                 | Unsupported: not an operand
            AARCH64     | 8@[x0, x1, sxtx 3]      | Sib(8,u,x0+0+x1*8)
            AARCH64     | 8@[x0, x1, sxtx]        | Sib(8,u,x0+0+x1*1)
            AARCH64     | 8@[x0, 8+4]             | Dereference(8,u,x0+12)
            AARCH64     | 8@[x0, #0x10]           | Dereference(8,u,x0+16)
            AARCH64     | 8@[x0, ]                | Unsupported: not an operand
            AARCH64     | 8@[x0, 8                | Unsupported: not an operand
            AARCH64     | 8@wsp                   | Register(8,u,sp)
            AARCH64     | -4@4294967295           | Constant(4,s,4294967295)
            AARCH64     | 16@q0                   | Unsupported: 16 bytes
            AARCH64     | 8@z3                    | Unsupported: vector
            AARCH64     | 8@x9223372036854775808  | Unsupported: address of
            AARCH64     | 8@18446744073709551616  | Unsupported: not an operand
            ARM         | 4@[r6, r4, lsl #1]      | Sib(4,u,r6+0+r4*2)
            ARM         | 4@[r6, -r4]             | Unsupported: subtracts
            ARM         | 4@[r6, r4, lsl #4]      | Unsupported: 0 to 3
            ARM         | 4@[r6, r4, asr #1]      | Unsupported: part of its index
            ARM         | 4@[pc, #-8]             | Dereference(4,u,pc-8)
            ARM         | 4@#0x10                 | Constant(4,u,16)
            ARM         | 4@#:lower16:sym         | Unsupported: linker
            ARM         | 4@#sym                  | Unsupported: address of 'sym'
            ARM         | 4@#                     | Unsupported: not an operand
            ARM         | 8@r2                    | Unsupported: pair
            ARM         | 4f@s0                   | Unsupported: floating
            ARM         | 4@ext_a+16              | Unsupported: address of 'ext_a'
            RISCV64     | 4@%lo(sym+4)(a3)        | Dereference(4,u,pc+4+sym)
            RISCV64     | 4@%pcrel_lo(.L1)(a3)    | Unsupported: linker
            RISCV64     | 8@zero                  | Constant(8,u,0)
            RISCV64     | 8@(a0)                  | Dereference(8,u,a0+0)
            RISCV64     | 8@(4+4)(a0)             | Dereference(8,u,a0+8)
            RISCV64     | 8@8(zero)               | Unsupported: absolute
            RISCV64     | 4@%hi(sym)              | Unsupported: not an operand
            RISCV64     | 8@fp                    | Register(8,u,s0)
            RISCV64     | 8@x10                   | Register(8,u,a0)
            RISCV64     | 8f@fa0                  | Unsupported: floating
            S390X       | 8@8(%r2,%r1)            | Sib(8,u,r1+8+r2*1)
            S390X       | 8@8(%r2,%r0)            | Dereference(8,u,r2+8)
            S390X       | 8@8(%r0)                | Unsupported: absolute
            S390X       | 8f@%f0                  | Unsupported: floating
            S390X       | 8@%a0                   | Unsupported: special
            S390X       | 8@(%r2)                 | Dereference(8,u,r2+0)
            S390X       | 8@(4+4)(%r2)            | Dereference(8,u,r2+8)
            S390X       | 8@8(%r2,%r1,%r3)        | Unsupported: not an operand
            S390X       | 8@%r16                  | Unsupported: not an operand
            PPC64LE     | 8@7,10                  | Sib(8,u,r7+0+r10*1)
            PPC64LE     | 8@0,10                  | Dereference(8,u,r10+0)
            PPC64LE     | 8@-8(1)                 | Dereference(8,u,r1-8)
            PPC64LE     | 4@sym@toc@l(9)          | Unsupported: linker
            PPC64LE     | 4@i-7                   | Constant(4,u,-7)
            PPC64LE     | 8@%r3                   | Register(8,u,r3)
            PPC64LE     | 8@-7                    | Unsupported: not an operand
            PPC64LE     | 8@32                    | Unsupported: not an operand
            PPC64LE     | 8@8(0)                  | Unsupported: absolute
            PPC64LE     | 8f@%f1                  | Unsupported: floating
            LOONGARCH64 | 8@$a7, 8                | Dereference(8,u,a7+8)
            LOONGARCH64 | 8@$r4, -16              | Dereference(8,u,a0-16)
            LOONGARCH64 | 8@$a0, $a1              | Sib(8,u,a0+0+a1*1)
            LOONGARCH64 | 8@$zero                 | Constant(8,u,0)
            LOONGARCH64 | 8f@$fa0                 | Unsupported: floating
            LOONGARCH64 | 8@$v0                   | Register(8,u,a0)
            LOONGARCH64 | 8@$sp, 8+8              | Dereference(8,u,sp+16)
            LOONGARCH64 | 8@$a0, sym              | Unsupported: not an operand
            LOONGARCH64 | 8@$a0, %pc_lo12(sym)    | Unsupported: linker
            """)
    void oneArgument(Machine machine, String text, String expected) {
        assertThat(UsdtArg.parse(machine, text)).singleElement().satisfies(arg -> {
            String actual = show(arg);
            if (expected.startsWith("Unsupported: ")) {
                assertThat(actual).startsWith("Unsupported: ").contains(expected.substring(13));
            } else {
                assertThat(actual).isEqualTo(expected);
            }
        });
    }

    private static String show(UsdtArg arg) {
        String head = "(" + arg.size() + "," + (arg.signed() ? "s" : "u") + ",";
        return switch (arg.operand()) {
            case UsdtArg.Constant c -> "Constant" + head + c.value() + ")";
            case UsdtArg.Register r -> "Register" + head + r.name() + ")";
            case UsdtArg.Memory m -> {
                String place = head + m.base() + (m.offset() < 0 ? "" : "+") + m.offset();
                yield m.index().isEmpty()
                        ? "Dereference" + place
                                + m.symbol().map(symbol -> "+" + symbol).orElse("") + ")"
                        : "Sib" + place + "+" + m.index().get() + (m.indexSize() == 8 ? "" : "[" + m.indexSize() + "]")
                                + "*" + m.scale() + ")";
            }
            case UsdtArg.Unsupported u -> "Unsupported: " + u.reason();
        };
    }
}
