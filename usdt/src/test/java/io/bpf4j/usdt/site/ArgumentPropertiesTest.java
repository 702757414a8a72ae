package io.bpf4j.usdt.site;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.usdt.RunSeed;
import io.bpf4j.usdt.internal.spec.ArgSpec;
import io.bpf4j.usdt.internal.spec.SpecBuilder;
import io.bpf4j.usdt.internal.spec.SpecLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** What holds of every argument and of every text, of whatever machine. */
class ArgumentPropertiesTest {

    /** What a machine can express at all is written so that it reads the same; the rest is refused, never bent. */
    @Property(tries = 20_000, seed = RunSeed.OF_PROPERTIES)
    void printedArgumentsReadTheSame(@ForAll("arguments") Tuple.Tuple2<Machine, UsdtArg> pair) {
        String text;
        try {
            text = UsdtArg.print(pair.get1(), List.of(pair.get2()));
        } catch (IllegalArgumentException e) {
            assertThat(cannotBeSaid(pair.get1(), pair.get2()))
                    .as(e.getMessage())
                    .isTrue();
            return;
        }
        assertThat(UsdtArg.parse(pair.get1(), text)).as(text).containsExactly(pair.get2());
    }

    @Property(tries = 20_000, seed = RunSeed.OF_PROPERTIES)
    void everyTextIsReadOrHasAReason(@ForAll("machines") Machine machine, @ForAll("texts") String text) {
        List<UsdtArg> args = UsdtArg.parse(machine, text);
        assertThat(args).hasSizeLessThanOrEqualTo(text.length());
        assertThat(args.isEmpty()).isEqualTo(isBlankToUs(text) || text.startsWith(":"));
        for (UsdtArg arg : args) {
            assertThat(arg.size()).isNotNegative();
            if (arg.operand() instanceof UsdtArg.Unsupported u) {
                assertThat(u.reason()).isNotBlank().hasSizeLessThan(400);
                assertThat(text).contains(u.raw().substring(u.raw().indexOf('@') + 1));
            } else {
                assertThat(arg.size()).isIn(1, 2, 4, 8);
            }
        }
    }

    @Property(tries = 20_000, seed = RunSeed.OF_PROPERTIES)
    void whatWasReadIsPrintedAndReadTheSame(@ForAll("machines") Machine machine, @ForAll("texts") String text) {
        List<UsdtArg> args = UsdtArg.parse(machine, text);
        for (UsdtArg arg : args) {
            String printed = UsdtArg.print(machine, List.of(arg));
            assertThat(UsdtArg.parse(machine, printed)).as(printed).containsExactly(arg);
        }
        // Garbage without a size, behind an argument with one, can't be told from a part of it.
        boolean allHaveSizes = args.stream()
                .allMatch(arg -> !(arg.operand() instanceof UsdtArg.Unsupported u)
                        || u.raw().matches("(?s)-?\\d+f?@.*"));
        if (allHaveSizes) {
            String printed = UsdtArg.print(machine, args);
            assertThat(UsdtArg.parse(machine, printed)).as(printed).isEqualTo(args);
        }
    }

    @Property(tries = 10_000, seed = RunSeed.OF_PROPERTIES)
    void everyTextBecomesASpec(@ForAll("machines") Machine machine, @ForAll("texts") String text) {
        for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
            for (SpecLayout layout : List.of(SpecLayout.of208(order), SpecLayout.of304(order))) {
                List<ArgSpec> args = new SpecBuilder(machine, layout)
                        .build(UsdtArg.parse(machine, text), 0x1000, Map.of("sym", 0x2000L));
                assertThat(layout.encode(args, 7)).hasSize(layout.size());
                assertThat(args).hasSizeLessThanOrEqualTo(12);
            }
        }
    }

    /** What the assemblers lack, written down independently of the grammars. */
    private static boolean cannotBeSaid(Machine machine, UsdtArg arg) {
        boolean x86 = machine == Machine.X86_64 || machine == Machine.I386;
        boolean brackets = machine == Machine.AARCH64 || machine == Machine.ARM;
        return switch (arg.operand()) {
            case UsdtArg.Constant c -> false;
            case UsdtArg.Register r -> arg.size() > machine.wordSize();
            case UsdtArg.Memory m
            when m.index().isEmpty() ->
                m.symbol().isEmpty()
                        // Register 0 is not a base there; ppc64 can say 0 + r0.
                        ? m.base().equals("r0")
                                && (machine == Machine.S390X || (machine == Machine.PPC64LE && m.offset() != 0))
                        : !x86 && !brackets && machine != Machine.RISCV64;
            case UsdtArg.Memory m -> cannotBeSaid(machine, m, m.index().get());
            case UsdtArg.Unsupported u -> false;
        };
    }

    private static boolean cannotBeSaid(Machine machine, UsdtArg.Memory m, String index) {
        if (m.indexSize() != 8) {
            return machine != Machine.AARCH64 || !index.startsWith("x");
        }
        return switch (machine) {
            case X86_64, I386 -> index.endsWith("ip");
            case AARCH64, ARM -> m.symbol().isPresent() || m.offset() != 0;
            case S390X -> m.symbol().isPresent() || m.scale() != 1 || m.base().equals("r0") || index.equals("r0");
            case PPC64LE ->
                m.symbol().isPresent()
                        || m.scale() != 1
                        || m.offset() != 0
                        || m.base().equals("r0");
            case LOONGARCH64 -> m.symbol().isPresent() || m.scale() != 1 || m.offset() != 0;
            case RISCV64, OTHER -> true;
        };
    }

    private static boolean isBlankToUs(String text) {
        return text.chars().allMatch(c -> c == ' ' || c == '\t' || c == '\n' || c == '\r');
    }

    @Provide
    Arbitrary<Machine> machines() {
        return RunSeed.mixedInto(ArgumentProperties.machines());
    }

    @Provide
    Arbitrary<String> texts() {
        return RunSeed.mixedInto(ArgumentProperties.texts());
    }

    @Provide
    Arbitrary<Tuple.Tuple2<Machine, UsdtArg>> arguments() {
        return RunSeed.mixedInto(ArgumentProperties.machines()
                .flatMap(machine -> ArgumentProperties.arguments(machine).map(arg -> Tuple.of(machine, arg))));
    }
}
