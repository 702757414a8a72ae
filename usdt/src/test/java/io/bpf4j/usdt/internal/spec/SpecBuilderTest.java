package io.bpf4j.usdt.internal.spec;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.usdt.internal.arg.ArgGrammar;
import io.bpf4j.usdt.internal.arg.Argument;
import io.bpf4j.usdt.internal.arg.ArgumentString;
import java.nio.ByteOrder;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class SpecBuilderTest {
    private static final ArgGrammar X86_64 = ArgGrammar.of(62, true).orElseThrow();
    private static final SymbolResolver SYMBOLS =
            name -> name.equals("sym") ? OptionalLong.of(0x5000) : OptionalLong.empty();

    @Test
    void eachKindOfArgument() {
        SpecBuilder.Result result =
                build(SpecLayout.of304(ByteOrder.LITTLE_ENDIAN), "-4@$-9 8@%rax 1@-8(%rbp) 2@4(%rcx,%r9,8)");
        assertThat(result.refusals()).isEmpty();
        assertThat(result.spec().cookie()).isEqualTo(99);
        assertThat(result.spec().args())
                .containsExactly(
                        new ArgSpec(ArgSpec.Type.CONSTANT, -9, 0, 0, 0, true, 32),
                        new ArgSpec(ArgSpec.Type.REGISTER, 0, 80, 0, 0, false, 0),
                        new ArgSpec(ArgSpec.Type.DEREFERENCE, -8, 32, 0, 0, false, 56),
                        new ArgSpec(ArgSpec.Type.SIB, 4, 88, 64, 3, false, 48));
    }

    @Test
    void halfOfAnIndexRegisterIsReadByObjectsThatCanOnly() {
        ArgGrammar arm64 = ArgGrammar.of(183, true).orElseThrow();
        List<Argument> arguments = ArgumentString.parse(arm64, "4@[x1, w0, sxtw 2] 4@[x1, w0, uxtw] 8@[x1, x0]");
        SpecBuilder.Result ours =
                new SpecBuilder(arm64, SpecLayoutTest.withIndexSize()).build(arguments, 0x1000, SYMBOLS, 99);
        assertThat(ours.refusals()).isEmpty();
        assertThat(ours.spec().args())
                .containsExactly(
                        new ArgSpec(ArgSpec.Type.SIB, 0, 8, 0, 2, -4, false, 32),
                        new ArgSpec(ArgSpec.Type.SIB, 0, 8, 0, 0, 4, false, 32),
                        new ArgSpec(ArgSpec.Type.SIB, 0, 8, 0, 0, 8, false, 0));
        SpecBuilder.Result libbpfs =
                new SpecBuilder(arm64, SpecLayout.of304(ByteOrder.LITTLE_ENDIAN)).build(arguments, 0x1000, SYMBOLS, 99);
        assertThat(libbpfs.spec().args())
                .startsWith(ArgSpec.UNREADABLE, ArgSpec.UNREADABLE)
                .hasSize(3);
        assertThat(libbpfs.refusals())
                .hasSize(2)
                .first()
                .satisfies(refusal -> assertThat(refusal.reason()).contains("half of an index register"));
    }

    @Test
    void aConstantIsCutToItsSize() {
        SpecBuilder.Result result =
                build(SpecLayout.of304(ByteOrder.LITTLE_ENDIAN), "-4@$4294967295 4@$-1 1@$-1 -1@$128 8@$-1");
        assertThat(result.spec().args())
                .extracting(ArgSpec::valueOrOffset)
                .containsExactly(-1L, 0xffff_ffffL, 255L, -128L, -1L);
    }

    @Test
    void aSymbolIsADistanceFromTheProbe() {
        SpecBuilder.Result result = build(SpecLayout.of208(ByteOrder.LITTLE_ENDIAN), "-4@8+sym(%rip)");
        assertThat(result.spec().args())
                .containsExactly(new ArgSpec(ArgSpec.Type.DEREFERENCE, 0x5008 - 0x1000, 128, 0, 0, true, 32));
    }

    @Test
    void whatCannotBeExpressedFailsForItselfOnly() {
        SpecBuilder.Result result =
                build(SpecLayout.of208(ByteOrder.LITTLE_ENDIAN), "8f@%xmm0 4@(%rax,%rbx) 4@other(%rip) 8@%rdi");
        assertThat(result.spec().args())
                .startsWith(ArgSpec.UNREADABLE, ArgSpec.UNREADABLE, ArgSpec.UNREADABLE)
                .hasSize(4);
        assertThat(result.refusals()).extracting(SpecBuilder.Refusal::argument).containsExactly(0, 1, 2);
        assertThat(result.refusals().get(1).reason()).contains("libbpf 1.6");
        assertThat(result.refusals().get(2).reason()).contains("'other'");
    }

    @Test
    void argumentsBeyondTheTwelfthAreLeftOut() {
        SpecBuilder.Result result = build(SpecLayout.of304(ByteOrder.LITTLE_ENDIAN), "8@%rax ".repeat(10_000));
        assertThat(result.spec().args()).hasSize(12);
        assertThat(result.refusals()).hasSize(1);
    }

    private static SpecBuilder.Result build(SpecLayout layout, String arguments) {
        return new SpecBuilder(X86_64, layout).build(ArgumentString.parse(X86_64, arguments), 0x1000, SYMBOLS, 99);
    }
}
