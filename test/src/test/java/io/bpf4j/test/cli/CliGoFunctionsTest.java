package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GO;
import static io.bpf4j.test.support.Requirement.HELD_COMMANDS;
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
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Functions of a Go program, which take their arguments in registers of Go's own; it prints the sum of its results. */
@Requires({BPF, BPF_COOKIE, GO, HELD_COMMANDS})
@Timeout(900) // for what hangs: the compiler compiles its library first
class CliGoFunctionsTest {
    private static final int CALLS = 1000;

    @TempDir
    static Path folder;

    private static Path program;

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        program = folder.resolve("sum");
        Path source = TargetProgram.testModule().resolve("src/test/go/sum.go");
        ProcessBuilder build = new ProcessBuilder("go", "build", "-o", program.toString(), source.toString());
        build.environment().put("GOCACHE", folder.resolve("cache").toString());
        build.environment().put("GO111MODULE", "off");
        Commands.Result result = Commands.run(build);
        assertThat(result.exitCode()).as(result.err()).isZero();
    }

    /** The lines of an answer about CALLS calls; what the program itself prints goes to standard error. */
    private static List<Map<String, Object>> answer(String command, String... options)
            throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(
                List.of(command, "-c", program + " " + CALLS, "u:" + program + ":main.price", "--json"));
        all.addAll(List.of(options));
        Commands.Result result = Cli.start(all.toArray(String[]::new));
        assertThat(result.exitCode()).as(result.err()).isZero();
        long sum =
                LongStream.range(0, CALLS).map(i -> "market".length() + i % 100).sum();
        assertThat(result.err().lines())
                .as("the program ran as if nobody looked")
                .contains(Long.toString(sum));
        return Json.lines(result.out());
    }

    @Test
    void eachArgumentIsInItsRegister() throws IOException, InterruptedException {
        List<Map<String, Object>> lines =
                answer("count", "--where", "(int32_t)arg1 == -arg0 && arg3 == 6 && (uint8_t)arg4 == arg0 % 100");
        assertThat(lines.getLast().get("events")).isEqualTo((long) CALLS);
        assertThat(lines.getLast().get("exact")).isEqualTo(false);
        assertThat(lines.getLast().get("reason")).asString().contains("a Go function that must grow its stack");
        assertThat(answer("count", "--where", "arg0 < 10").getLast().get("events"))
                .isEqualTo(10L);
    }

    @Test
    void aStringIsAPointerAndALength() throws IOException, InterruptedException {
        assertThat(answer("top", "--by", "str(arg2, 6)"))
                .anySatisfy(line -> assertThat(line)
                        .containsEntry("key", Map.of("str(arg2, 6)", "market"))
                        .containsEntry("count", (long) CALLS));
    }

    /** The kernel's return probes would end the program. */
    @Test
    void returnsAreRefused() throws IOException, InterruptedException {
        for (String command : List.of("count", "latency")) {
            String function = (command.equals("count") ? "ur:" : "u:") + program + ":main.price";
            assertThat(Cli.fail(command, "-c", program + " 10", function))
                    .contains("the return of main.price in " + program + " can't be probed: it is a Go function");
        }
    }
}
