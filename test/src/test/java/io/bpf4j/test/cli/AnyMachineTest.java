package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.HOTSPOT_PROBES;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The command at work on whatever machine and kernel there is: what {@code test/vm/run} runs beside the USDT suite. */
@Tag("usdt")
@Requires(BPF)
class AnyMachineTest {
    /** They need nothing that came after the oldest kernel. */
    private static final List<String> ALWAYS = List.of(
            "args12.bpf.o", "args12_208.bpf.o", "counters.bpf.o", "empty.bpf.o", "globals.bpf.o", "trace.bpf.o");

    @Test
    void everyObjectLoadsOrSaysWhyNot(@TempDir Path folder, TestReporter reporter)
            throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("load", "--json"));
        List<String> names = new ArrayList<>(TestObjects.names());
        names.addAll(TestObjects.corpus());
        for (String name : names) {
            Path file = folder.resolve(name);
            Files.createDirectories(file.getParent());
            arguments.add(Files.write(file, TestObjects.bytes(name)).toString());
        }
        Commands.Result result = Cli.run(arguments.toArray(String[]::new));
        assertThat(result.err()).doesNotContain("\tat ", "Exception");
        List<Map<String, @Nullable Object>> lines = Json.lines(result.out());
        assertThat(lines).hasSameSizeAs(names);
        int loaded = 0;
        for (int i = 0; i < names.size(); i++) {
            Map<String, @Nullable Object> line = lines.get(i);
            if (Boolean.TRUE.equals(line.get("ok"))) {
                loaded++;
                continue;
            }
            assertThat(ALWAYS).as(line.toString()).doesNotContain(names.get(i));
            assertThat((String) line.get("error")).isNotBlank().doesNotContain("Exception");
            reporter.publishEntry(names.get(i), String.valueOf(line.get("error")));
        }
        reporter.publishEntry("objects", loaded + " of " + names.size() + " load");
    }

    @ParameterizedTest
    @EnumSource(Strategy.class)
    @Requires({GCC, SDT_H, ASSEMBLER})
    void traceShowsEventsWithTheirArguments(Strategy strategy) throws IOException, InterruptedException {
        strategy.insistOn();
        try (TargetProgram target = TargetProgram.start("-O2");
                RunningTrace trace = new RunningTrace(
                        "trace",
                        "--json",
                        "--strategy",
                        strategy.option(),
                        "--count",
                        "2",
                        "-p",
                        Integer.toString(target.pid()),
                        "target:text",
                        "target:guarded",
                        "--str",
                        "0:1")) {
            trace.awaitMessage("tracing 2 probes at ");
            target.command("text twice as big");
            target.command("guarded");
            Commands.Result result = trace.await();
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(Json.lines(result.out()).subList(0, 2))
                    .extracting(line -> line.get("name"), line -> String.valueOf(line.get("args")))
                    .satisfiesExactly(
                            text -> assertThat(text.toList().toString()).startsWith("[text, [twice , 6, "),
                            guarded -> assertThat(guarded.toList().toString()).startsWith("[guarded, [null, "));
        }
    }

    @Test
    @Requires(HOTSPOT_PROBES)
    void demoShowsEventsOfAJvm() throws IOException, InterruptedException {
        Commands.Result result = Cli.run("demo", "--seconds", "10");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).containsPattern("hotspot:class__loaded +[1-9]").containsPattern("events, 0 lost\\R");
    }
}
