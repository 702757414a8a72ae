package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.HELD_COMMANDS;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.test.support.Strategy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Children that share their parent's memory, as between vfork and exec. Kernels compare memory where a probe is for one
 * process; and on some the return of a function fires for each process in which it is probed.
 */
@Requires({BPF, GCC, HELD_COMMANDS, SDT_H})
@Timeout(600) // for what hangs
class CliSharedMemoryTest {
    private static final long EVENTS = 83;
    private static final long EVENTS_OF_OUTLIVING = 24;

    private final String program = CPrograms.compile("shared", "-O2").toString();

    @ParameterizedTest
    @EnumSource(Strategy.class)
    void eachEventCountsOnce(Strategy strategy) throws IOException, InterruptedException {
        strategy.insistOn();
        for (String command : new String[] {"count", "trace"}) {
            assertEvents(
                    EVENTS,
                    command,
                    "--strategy",
                    strategy.option(),
                    "-c",
                    program + " all",
                    program,
                    "shared:program");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"u:called", "ur:called"})
    @Requires(BPF_COOKIE)
    void eachCallAndEachReturnCountsOnce(String function) throws IOException, InterruptedException {
        assertEvents(EVENTS, "count", "-c", program + " all", function);
        assertEvents(EVENTS_OF_OUTLIVING, "count", "-c", program + " outlive", function);
    }

    @ParameterizedTest
    @EnumSource(value = Strategy.class, names = "IP_MAP", mode = EnumSource.Mode.EXCLUDE)
    void aChildMayOutliveTheProcessWhoseMemoryItHas(Strategy strategy) throws IOException, InterruptedException {
        strategy.insistOn();
        assertEvents(
                EVENTS_OF_OUTLIVING,
                "count",
                "--strategy",
                strategy.option(),
                "-c",
                program + " outlive",
                "shared:program");
    }

    /** Without cookies its probes are attached to when that process has ended, which the child doesn't wait for. */
    @Test
    void whatMayBeMissingIsSaid(@TempDir Path folder) throws IOException, InterruptedException {
        // The child ends with it, however late the trace learns that its parent has ended.
        Path mark = Files.createFile(folder.resolve("mark"));
        try (RunningTrace count = new RunningTrace(
                "count",
                "--follow",
                "--json",
                "--strategy",
                "ipmap",
                "-c",
                program + " outlive " + mark,
                "shared:program")) {
            count.awaitMessage("shared the memory of process");
            Files.delete(mark);
            Commands.Result result = count.await();
            assertThat(Json.lines(result.out()).getLast()).as(result.err()).containsEntry("exact", false);
        }
    }

    private static void assertEvents(long events, String command, String... arguments)
            throws IOException, InterruptedException {
        String[] all = new String[arguments.length + 3];
        all[0] = command;
        all[1] = "--follow";
        all[2] = "--json";
        System.arraycopy(arguments, 0, all, 3, arguments.length);
        Commands.Result result = Cli.run(all);
        assertThat(result.exitCode()).as(result.err()).isZero();
        Map<String, @Nullable Object> sums = Json.lines(result.out()).getLast();
        assertThat(sums)
                .as(String.join(" ", all) + ": " + result.err())
                .containsEntry("events", events)
                .containsEntry("lost", 0L)
                .containsEntry("exact", true);
    }
}
