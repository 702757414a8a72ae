package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A command that does its work while descendants of it, of another user, fork all the time. */
@Requires({BPF, UPROBE_MULTI, BPF_COOKIE, GCC, SDT_H})
@Timeout(1800) // for what hangs
class CliForkStormTest {
    /** Far more than there is time for. */
    private static final String MOST_FORKS = "200000";

    @TempDir
    static Path folder;

    private static Path program() {
        return folder.resolve("storm");
    }

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        Path source = TargetProgram.testModule().resolve("src/test/c/hostile/storm.c");
        Commands.check(List.of(
                "gcc", "-Wall", "-Wextra", "-Werror", "-O2", "-o", program().toString(), source.toString()));
    }

    /**
     * No call is missed, none waits until the storm is over, and an answer that calls itself exact has each process of
     * the storm. With a perf uprobe for each site, the kernel takes a tenth of a second for each that is detached.
     */
    @ParameterizedTest
    @CsvSource({"multi, 30", "cookie, 2", "ipmap, 2"})
    void theWorkGoesOnAndIsCounted(String strategy, long calls) throws IOException, InterruptedException {
        Path file = folder.resolve(strategy);
        String command = String.join(" ", program().toString(), Long.toString(calls), MOST_FORKS, file.toString());
        Commands.Result result = Cli.run(
                "count",
                "--follow",
                "--strategy",
                strategy,
                "-c",
                command,
                "storm:call",
                "storm:link",
                "--by",
                "probe",
                "--json");
        assertThat(result.exitCode()).as(result.err()).isZero();
        long links = Long.parseLong(Files.readString(file).strip());
        assertThat(links).isBetween(1L, Long.parseLong(MOST_FORKS) - 1);
        List<Map<String, @Nullable Object>> lines = Json.lines(result.out());
        Map<String, Long> counts = new HashMap<>();
        for (Map<String, @Nullable Object> line : lines.subList(0, lines.size() - 1)) {
            String probe = String.valueOf(((Map<?, ?>) Objects.requireNonNull(line.get("key"))).get("probe"));
            counts.put(probe, (Long) Objects.requireNonNull(line.get("count")));
        }
        assertThat(counts).as(result.err()).containsEntry("storm:call", calls);
        Map<String, @Nullable Object> end = lines.getLast();
        if (Boolean.TRUE.equals(end.get("exact"))) {
            assertThat(counts).containsEntry("storm:link", links);
        } else {
            assertThat(end.get("reason")).asString().isNotBlank();
        }
    }
}
