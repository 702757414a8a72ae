package io.bpf4j.usdt.internal.spec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtArg;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SpecBuilderTest {
    private static final Map<String, Long> SYMBOLS = Map.of("sym", 0x5000L);

    @Test
    void eachKindOfArgument() {
        List<ArgSpec> args =
                build(SpecLayout.of304(ByteOrder.LITTLE_ENDIAN), "-4@$-9 8@%rax 1@-8(%rbp) 2@4(%rcx,%r9,8)");
        assertThat(args)
                .containsExactly(
                        new ArgSpec(ArgSpec.Type.CONSTANT, -9, 0, 0, 0, true, 32),
                        new ArgSpec(ArgSpec.Type.REGISTER, 0, 80, 0, 0, false, 0),
                        new ArgSpec(ArgSpec.Type.DEREFERENCE, -8, 32, 0, 0, false, 56),
                        new ArgSpec(ArgSpec.Type.SIB, 4, 88, 64, 3, false, 48));
    }

    @Test
    void halfOfAnIndexRegisterIsReadByObjectsThatCanOnly() {
        String text = "4@[x1, w0, sxtw 2] 4@[x1, w0, uxtw] 8@[x1, x0]";
        assertThat(build(Machine.AARCH64, SpecLayoutTest.withIndexSize(), text))
                .containsExactly(
                        new ArgSpec(ArgSpec.Type.SIB, 0, 8, 0, 2, -4, false, 32, null),
                        new ArgSpec(ArgSpec.Type.SIB, 0, 8, 0, 0, 4, false, 32, null),
                        new ArgSpec(ArgSpec.Type.SIB, 0, 8, 0, 0, false, 0));
        List<ArgSpec> libbpfs = build(Machine.AARCH64, SpecLayout.of304(ByteOrder.LITTLE_ENDIAN), text);
        assertThat(libbpfs)
                .extracting(ArgSpec::type)
                .containsExactly(ArgSpec.Type.INVALID, ArgSpec.Type.INVALID, ArgSpec.Type.SIB);
        assertThat(libbpfs.getFirst().refusal()).contains("half of an index register");
    }

    /** {@code (%eax,%ecx,4)} with ecx = -1 is eax - 4, where addresses have 32 bits. */
    @Test
    void anIndexOf32BitsIsSigned() {
        assertThat(build(Machine.I386, SpecLayoutTest.withIndexSize(), "4@(%eax,%ecx,4) 4@sym(%ecx) 4@(%eax,%ecx)"))
                .extracting(ArgSpec::type, ArgSpec::indexSize)
                .containsExactly(tuple(ArgSpec.Type.SIB, -4), tuple(ArgSpec.Type.SIB, -4), tuple(ArgSpec.Type.SIB, 8));
        assertThat(build(Machine.ARM, SpecLayoutTest.withIndexSize(), "4@[r6, r4, lsl #2] 4@[r6, r4]"))
                .extracting(ArgSpec::indexSize)
                .containsExactly(-4, 8);
        assertThat(build(Machine.I386, SpecLayout.of304(ByteOrder.LITTLE_ENDIAN), "4@(%eax,%ecx,4)"))
                .containsExactly(new ArgSpec(ArgSpec.Type.SIB, 0, 80, 88, 2, false, 32));
    }

    @Test
    void aConstantIsCutToItsSize() {
        List<ArgSpec> args =
                build(SpecLayout.of304(ByteOrder.LITTLE_ENDIAN), "-4@$4294967295 4@$-1 1@$-1 -1@$128 8@$-1");
        assertThat(args).extracting(ArgSpec::valueOrOffset).containsExactly(-1L, 0xffff_ffffL, 255L, -128L, -1L);
    }

    @Test
    void aSymbolIsADistanceFromTheProbe() {
        List<ArgSpec> args = build(SpecLayout.of208(ByteOrder.LITTLE_ENDIAN), "-4@8+sym(%rip)");
        assertThat(args).containsExactly(new ArgSpec(ArgSpec.Type.DEREFERENCE, 0x5008 - 0x1000, 128, 0, 0, true, 32));
    }

    @Test
    void whatCannotBeExpressedFailsForItselfOnly() {
        List<ArgSpec> args =
                build(SpecLayout.of208(ByteOrder.LITTLE_ENDIAN), "8f@%xmm0 4@(%rax,%rbx) 4@other(%rip) 8@%rdi");
        assertThat(args)
                .extracting(ArgSpec::type)
                .containsExactly(
                        ArgSpec.Type.INVALID, ArgSpec.Type.INVALID, ArgSpec.Type.INVALID, ArgSpec.Type.REGISTER);
        assertThat(args.get(0).refusal()).contains("vector");
        assertThat(args.get(1).refusal()).contains("libbpf 1.6");
        assertThat(args.get(2).refusal()).contains("'other'");
        assertThat(args.get(3).refusal()).isNull();
    }

    @Test
    void argumentsBeyondTheTwelfthAreLeftOut() {
        assertThat(build(SpecLayout.of304(ByteOrder.LITTLE_ENDIAN), "8@%rax ".repeat(10_000)))
                .hasSize(12);
    }

    private static List<ArgSpec> build(SpecLayout layout, String arguments) {
        return build(Machine.X86_64, layout, arguments);
    }

    private static List<ArgSpec> build(Machine machine, SpecLayout layout, String arguments) {
        return new SpecBuilder(machine, layout).build(UsdtArg.parse(machine, arguments), 0x1000, SYMBOLS);
    }
}
