package io.bpf4j.usdt;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every argument string that compilers emitted for the vectors is read, with the meaning that is written beside it. */
class ArgVectorsTest {

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
            List<UsdtArg> args = UsdtArgs.parse(machine, text);
            assertThat(args).as(line).hasSize(text.split("@", -1).length - 1 - relocations(text));
            for (UsdtArg arg : args) {
                String raw = arg instanceof UsdtArg.Unsupported u ? u.raw() : rawOf(text, args.indexOf(arg));
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
    void printedArgumentsParseToTheSame(Machine machine) throws IOException {
        for (String line : lines(machine.machineName() + ".txt")) {
            List<UsdtArg> args = UsdtArgs.parse(machine, line.substring(line.indexOf(':') + 1));
            assertThat(UsdtArgs.parse(machine, UsdtArgs.print(machine, args))).isEqualTo(args);
        }
    }

    @Test
    void aMachineWithoutGrammarGivesAReason() throws IOException {
        for (String line : lines("mips64el.txt")) {
            String text = line.substring(line.indexOf(':') + 1).strip();
            assertThat(UsdtArgs.parse(Machine.OTHER, text))
                    .allSatisfy(arg -> assertThat(arg).isInstanceOf(UsdtArg.Unsupported.class));
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
            assertThat(arg)
                    .isInstanceOfSatisfying(
                            UsdtArg.Unsupported.class,
                            u -> assertThat(u.reason()).contains(words[2]));
            return;
        }
        String actual = switch (arg) {
            case UsdtArg.Constant c -> "constant " + c.value();
            case UsdtArg.Register r -> "register " + r.register();
            case UsdtArg.Dereference d ->
                "memory " + d.register() + " " + d.offset() + (d.symbol() == null ? "" : " symbol " + d.symbol());
            case UsdtArg.Sib s ->
                "memory " + s.register() + " " + s.offset() + " index " + s.index() + " " + s.scale()
                        + (s.symbol() == null ? "" : " symbol " + s.symbol());
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
