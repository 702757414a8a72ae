package io.bpf4j.usdt.site;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.usdt.internal.spec.ArgSpec;
import io.bpf4j.usdt.internal.spec.SpecBuilder;
import io.bpf4j.usdt.internal.spec.SpecLayout;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every argument string that compilers emitted for the vectors is read, with the meaning that is written beside it; and
 * what the BPF program is told is that meaning, in the kernel's own register order ({@link PtRegs}).
 */
class ArgVectorsTest {
    private static final long PROBE = 0x1000;
    private static final long SYMBOL = 0x5000;

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "OTHER")
    void vectorsMeanWhatTheySay(Machine machine) throws IOException {
        Map<String, String> meanings = new HashMap<>();
        for (String line : lines(machine.machineName() + ".meaning.txt")) {
            String[] parts = line.split(" => ", 2);
            meanings.put(parts[0], parts[1]);
        }
        int seen = 0;
        for (String line : lines(machine.machineName() + ".txt")) {
            String text = line.substring(line.indexOf(':') + 1).strip();
            List<UsdtArg> args = UsdtArg.parse(machine, text);
            assertThat(args).as(line).hasSize(text.split("@", -1).length - 1 - relocations(text));
            for (int i = 0; i < args.size(); i++) {
                UsdtArg arg = args.get(i);
                String raw = arg.operand() instanceof UsdtArg.Unsupported u ? u.raw() : rawOf(text, i);
                String meaning = meanings.get(raw);
                assertThat(meaning).as("meaning of '%s' in '%s'", raw, line).isNotNull();
                assertMeaning(arg, meaning);
                seen++;
            }
        }
        assertThat(seen).isGreaterThan(30);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "OTHER")
    void whatTheProgramIsToldIsWhatTheyMean(Machine machine) throws IOException {
        SpecBuilder builder = new SpecBuilder(machine, SpecLayout.of304(ByteOrder.LITTLE_ENDIAN));
        for (String line : lines(machine.machineName() + ".meaning.txt")) {
            String[] parts = line.split(" => ", 2);
            String[] words = parts[1].split(" ", -1);
            List<ArgSpec> specs =
                    builder.build(UsdtArg.parse(machine, parts[0]), PROBE, Map.of(words[words.length - 1], SYMBOL));
            if (words[1].equals("unsupported")) {
                assertThat(specs).as(line).singleElement().satisfies(spec -> {
                    assertThat(spec.type()).isEqualTo(ArgSpec.Type.INVALID);
                    assertThat(spec.refusal()).contains(words[2]);
                });
            } else {
                assertThat(specs).as(line).containsExactly(expected(machine, words));
            }
        }
    }

    /** Registers that the vectors happen not to use are where the kernel has them, too. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "OTHER")
    void everyRegisterIsWhereTheKernelSavesIt(Machine machine) {
        for (String register : PtRegs.registers(machine)) {
            assertThat(machine.registerOffset(register)).as(register).hasValue(PtRegs.offset(machine, register));
        }
        String pointer = ArgGrammar.of(machine).orElseThrow().instructionPointer;
        assertThat(machine.registerOffset(pointer)).hasValue(PtRegs.offset(machine, pointer));
    }

    private static ArgSpec expected(Machine machine, String... words) {
        boolean signed = words[0].startsWith("s");
        int shift = 64 - 8 * (words[0].charAt(1) - '0');
        if (words[1].equals("constant")) {
            // In its own size: 255 where an unsigned byte is written as -1.
            BigInteger modulus = BigInteger.TWO.pow(64 - shift);
            BigInteger cut = new BigInteger(words[2]).mod(modulus);
            boolean negative = signed && cut.testBit(63 - shift);
            long value = (negative ? cut.subtract(modulus) : cut).longValue();
            return new ArgSpec(ArgSpec.Type.CONSTANT, value, 0, 0, 0, signed, shift);
        }
        int register = PtRegs.offset(machine, words[2]);
        if (words[1].equals("register")) {
            return new ArgSpec(ArgSpec.Type.REGISTER, 0, register, 0, 0, signed, shift);
        }
        long offset = Long.parseLong(words[3]);
        if (words.length == 6 && words[4].equals("symbol")) {
            return new ArgSpec(ArgSpec.Type.DEREFERENCE, SYMBOL + offset - PROBE, register, 0, 0, signed, shift);
        }
        if (words.length == 4) {
            return new ArgSpec(ArgSpec.Type.DEREFERENCE, offset, register, 0, 0, signed, shift);
        }
        assertThat(words).hasSize(7);
        int scaleShift = List.of("1", "2", "4", "8").indexOf(words[6]);
        return new ArgSpec(
                ArgSpec.Type.SIB, offset, register, PtRegs.offset(machine, words[5]), scaleShift, signed, shift);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "OTHER")
    void printedArgumentsParseToTheSame(Machine machine) throws IOException {
        for (String line : lines(machine.machineName() + ".txt")) {
            List<UsdtArg> args = UsdtArg.parse(machine, line.substring(line.indexOf(':') + 1));
            assertThat(UsdtArg.parse(machine, UsdtArg.print(machine, args))).isEqualTo(args);
        }
    }

    @Test
    void aMachineWithoutGrammarGivesAReason() throws IOException {
        for (String line : lines("mips64el.txt")) {
            String text = line.substring(line.indexOf(':') + 1).strip();
            assertThat(UsdtArg.parse(Machine.OTHER, text))
                    .allSatisfy(arg -> assertThat(arg.operand()).isInstanceOf(UsdtArg.Unsupported.class));
        }
    }

    /** The text of one argument, cut out by its size marker. */
    private static String rawOf(String text, int index) {
        return text.split(" (?=-?\\d+f?@)", -1)[index];
    }

    /** {@code sym@GOTPCREL} has an at sign that starts no argument. */
    private static int relocations(String text) {
        int count = 0;
        for (String relocation : List.of("@GOTPCREL", "@GOTOFF", "@tpoff", "@ntpoff")) {
            count += text.split(relocation, -1).length - 1;
        }
        return count;
    }

    private static void assertMeaning(UsdtArg arg, String meaning) {
        String[] words = meaning.split(" ", -1);
        String size = (arg.signed() ? "s" : "u") + arg.size() + (arg.isFloat() ? "f" : "");
        assertThat(size).as("size of %s", arg).isEqualTo(words[0]);
        if (words[1].equals("unsupported")) {
            assertThat(arg.operand())
                    .isInstanceOfSatisfying(
                            UsdtArg.Unsupported.class,
                            u -> assertThat(u.reason()).contains(words[2]));
            return;
        }
        String actual = switch (arg.operand()) {
            case UsdtArg.Constant c -> "constant " + c.value();
            case UsdtArg.Register r -> "register " + r.name();
            case UsdtArg.Memory m ->
                "memory " + m.base() + " " + m.offset()
                        + m.index()
                                .map(index -> " index " + index + " " + m.scale())
                                .orElse("")
                        + m.symbol().map(symbol -> " symbol " + symbol).orElse("");
            case UsdtArg.Unsupported u -> "unsupported " + u.reason();
        };
        assertThat(actual).isEqualTo(meaning.substring(words[0].length() + 1));
    }

    private static List<String> lines(String resource) throws IOException {
        try (InputStream in = ArgVectorsTest.class.getResourceAsStream("vectors/" + resource)) {
            assertThat(in).as(resource).isNotNull();
            return new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .toList();
        }
    }
}
