package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.IA32;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Functions of a 32-bit program of x86-64, whose arguments are on the stack and not in registers. */
@Requires({BPF, BPF_COOKIE, GCC, IA32})
@Timeout(600) // for what hangs
class CliIa32FunctionsTest {
    private static final int CALLS = 1000;

    /** What the program returns if nobody looks: the sum of i % 7, of 2^32 and of the first letters, modulo 256. */
    private static final int STATUS = 1;

    @TempDir
    static Path folder;

    private static String program = "";

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        program = folder.resolve("ia32").toString();
        Path source = TargetProgram.testModule().resolve("src/test/c/ia32/ia32.c");
        String options =
                "-m32 -Wall -Wextra -Werror -O2 -ffreestanding -fno-stack-protector -nostdlib -static -fno-pic "
                        + "-no-pie -fno-asynchronous-unwind-tables -fno-omit-frame-pointer";
        List<String> command = new ArrayList<>(List.of("gcc", "-o", program, source.toString()));
        command.addAll(List.of(options.split(" ", -1)));
        Commands.check(command);
    }

    private static List<Map<String, @Nullable Object>> answer(String command, String... options)
            throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of(command, "-c", program, "u:" + program + ":price", "--json"));
        all.addAll(List.of(options));
        Commands.Result result = Cli.run(all.toArray(String[]::new));
        assertThat(result.exitCode()).as(result.err()).isZero();
        return Json.lines(result.out());
    }

    @Test
    void eachArgumentIsInItsWordOfTheStack() throws IOException, InterruptedException {
        assertThat(Commands.run(List.of(program)).exitCode()).isEqualTo(STATUS);
        List<Map<String, @Nullable Object>> lines = answer(
                "count",
                "--where",
                // The long long has two words: i, and 1.
                "(int32_t)arg0 == 0 - (int64_t)arg2 && (int16_t)arg1 == arg2 % 7 && arg3 == 1 && arg4 != 0");
        assertThat(lines.getLast()).containsEntry("events", (long) CALLS).containsEntry("exact", true);
        assertThat(answer("count", "--where", "arg2 < 10").getLast()).containsEntry("events", 10L);
        Map<String, @Nullable Object> words = answer("hist", "--of", "(int32_t)arg0", "--linear", "-1000:0:10")
                .getFirst();
        assertThat(words)
                .containsEntry("min", -999L)
                .containsEntry("max", 0L)
                .containsEntry("sum", -CALLS * (CALLS - 1L) / 2);
    }

    /** The kernel can read the text only if the program has done so before: not at the first call. */
    @Test
    void anArgumentMayBeTheAddressOfText() throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> lines = answer("count", "--by", "str(arg4)", "--where", "arg2 >= 10");
        assertThat(lines.subList(0, lines.size() - 1))
                .containsExactlyInAnyOrder(row("market", 495), row("bakery", 495));
    }

    private static Map<String, @Nullable Object> row(String text, long count) {
        return Map.of("type", "row", "key", Map.of("str(arg4)", text), "count", count);
    }

    @Test
    void theCallerIsInTheStack() throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> lines = answer("stack");
        assertThat(lines.getFirst().get("frames")).asString().startsWith("[price, _start");
        assertThat(lines.getLast()).containsEntry("events", (long) CALLS);
    }
}
