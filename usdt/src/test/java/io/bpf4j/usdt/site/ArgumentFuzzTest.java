package io.bpf4j.usdt.site;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.fuzz.FuzzTarget;
import io.bpf4j.test.fuzz.Limits;
import io.bpf4j.usdt.internal.spec.ArgSpec;
import io.bpf4j.usdt.internal.spec.SpecBuilder;
import io.bpf4j.usdt.internal.spec.SpecLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * Any text is arguments, or such as can't be read and say why; what is read is printed so that it is read the same, and
 * becomes a spec. The first byte of an input chooses the machine.
 */
class ArgumentFuzzTest extends FuzzTarget {
    private static final List<Machine> MACHINES = List.of(Machine.values());

    @Override
    protected List<byte[]> seeds() {
        return List.of(
                input(Machine.X86_64, "-4@-20(%rbp) 8@%rdi 1@$-9 8@counters+24(%rip) 4@4(%rcx,%r9,8) 8f@%xmm0"),
                input(Machine.X86_64, "%rax 8(%rsp) $5"),
                input(Machine.I386, "-4@12(%ebp) 4@%eax 1@%dl"),
                input(Machine.AARCH64, "8@[sp, 28] -4@w1 8@x0 4@[x1, w0, uxtw 2] 8@[x2, x3, lsl 3] 4@5"),
                input(Machine.ARM, "4@[fp, #-8] 4@r0 -4@#7"),
                input(Machine.RISCV64, "8@-24(s0) -4@a0 8@%lo(sym)(a5) 4@1"),
                input(Machine.S390X, "8@%r2 -4@168(%r15) 8@8(%r1,%r2) 4@5"),
                input(Machine.PPC64LE, "8@3 -4@48(1) 4@i5 8@0(9)"),
                input(Machine.LOONGARCH64, "8@$a0 -4@$sp, 12 4@5"),
                input(Machine.OTHER, "8@r1"));
    }

    private static byte[] input(Machine machine, String text) {
        byte[] bytes = bytes("x" + text);
        bytes[0] = (byte) MACHINES.indexOf(machine);
        return bytes;
    }

    @Override
    protected List<String> words() {
        return List.of(
                "8@",
                " -4@",
                "1f@",
                "@",
                " ",
                "%",
                "(",
                ")",
                "[",
                "]",
                ",",
                "$",
                "#",
                "-",
                "+",
                "*",
                "<<",
                "~",
                "0x1f",
                "sym",
                "@plt",
                "@GOTOFF",
                "x0",
                "w1",
                "lsl 2",
                "sxtx",
                "sp",
                "r7",
                "!",
                "%lo(",
                "zero",
                "%r0",
                "i",
                "$a7",
                ":lo12:",
                "PTR ",
                "%fs:",
                "9223372036854775808",
                "18446744073709551615");
    }

    @Override
    protected Limits limits() {
        return Limits.USUAL.withMaxLength(200).withBytes(1 << 20, 20_000);
    }

    @Override
    protected void read(byte[] input) {
        Machine machine = MACHINES.get(input.length == 0 ? 0 : (input[0] & 0xff) % MACHINES.size());
        String text =
                new String(input, Math.min(1, input.length), Math.max(0, input.length - 1), StandardCharsets.UTF_8);
        List<UsdtArg> args = UsdtArg.parse(machine, text);
        assertThat(args).hasSizeLessThanOrEqualTo(text.length());
        boolean allHaveSizes = true;
        for (UsdtArg arg : args) {
            assertThat(arg.size()).isNotNegative();
            if (arg.operand() instanceof UsdtArg.Unsupported unsupported) {
                assertThat(unsupported.reason()).isNotBlank().hasSizeLessThan(400);
                allHaveSizes &= unsupported.raw().matches("(?s)-?\\d+f?@.*");
            } else {
                assertThat(arg.size()).isIn(1, 2, 4, 8);
            }
        }
        for (UsdtArg arg : args) {
            String printed = UsdtArg.print(machine, List.of(arg));
            assertThat(UsdtArg.parse(machine, printed)).as(printed).containsExactly(arg);
        }
        // Garbage without a size, behind an argument with one, can't be told from a part of it.
        if (allHaveSizes) {
            assertThat(UsdtArg.parse(machine, UsdtArg.print(machine, args))).isEqualTo(args);
        }
        if (machine != Machine.OTHER) {
            for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
                for (SpecLayout layout : List.of(SpecLayout.of208(order), SpecLayout.of304(order))) {
                    List<ArgSpec> specs = new SpecBuilder(machine, layout)
                            .build(args, 0x1000, Map.of("sym", 0x2000L, "counters", 8L));
                    assertThat(layout.encode(specs, 7)).hasSize(layout.size());
                    assertThat(specs).hasSizeLessThanOrEqualTo(12);
                }
            }
        }
    }

    @Override
    protected List<Growth> growths() {
        return List.of(
                new Growth("arguments", count -> input(Machine.X86_64, "8@%rax ".repeat(count))),
                new Growth("arguments without a size", count -> input(Machine.X86_64, "%rax ".repeat(count))),
                new Growth(
                        "arguments behind one with a size",
                        count -> input(Machine.X86_64, "8@%rax" + " %rbx".repeat(count))),
                new Growth("parentheses", count -> input(Machine.X86_64, "8@" + "(".repeat(count))),
                new Growth("sums", count -> input(Machine.X86_64, "8@" + "1+".repeat(count) + "1(%rax)")),
                new Growth("signs", count -> input(Machine.AARCH64, "8@[x1, " + "-".repeat(count) + "1]")),
                new Growth("blanks", count -> input(Machine.S390X, "8@" + " ".repeat(count) + "%r2")),
                new Growth("digits", count -> input(Machine.RISCV64, "8@" + "1".repeat(count) + "(s0)")),
                new Growth("sizes without an operand", count -> input(Machine.PPC64LE, "8@ ".repeat(count))));
    }
}
