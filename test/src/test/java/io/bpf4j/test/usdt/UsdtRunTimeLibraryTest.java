package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.READELF;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.LineProcess;
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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Probes of a library that a program makes while it runs, in the layout of libstapsdt, which Node.js and Python programs
 * use. Debian has no package of it.
 */
@Requires({BPF, GCC, X86_64})
@Timeout(600) // for what hangs
class UsdtRunTimeLibraryTest {
    @TempDir
    static Path folder;

    private static Path program() {
        return folder.resolve("main");
    }

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        Path source = TargetProgram.testModule().resolve("src/test/c/stapsdt/main.c");
        Commands.check(List.of(
                "gcc", "-Wall", "-Wextra", "-Werror", "-O2", "-o", program().toString(), source.toString(), "-ldl"));
    }

    /** The program, which has made its library in a file or in memory. */
    private static final class Maker extends LineProcess {
        Maker(String... arguments) throws IOException {
            super(new ProcessBuilder(command(arguments)));
        }

        private static List<String> command(String... arguments) {
            List<String> command = new ArrayList<>(List.of(program().toString()));
            command.addAll(List.of(arguments));
            return command;
        }
    }

    private static Maker start(String place) throws IOException {
        return place.equals("memfd")
                ? new Maker(place)
                : new Maker(
                        place,
                        folder.resolve("load-" + System.nanoTime() + ".so").toString());
    }

    @Test
    @Requires(READELF)
    void itsProbesAreThoseThatReadelfShows() throws IOException, InterruptedException {
        Path library = folder.resolve("load.so");
        try (Maker maker = new Maker("tmp", library.toString())) {
            String notes = Commands.check(List.of("readelf", "-nW", library.toString()));
            String listed = Cli.check("list", "-p", Integer.toString(maker.pid()), "load:*");
            for (String name : List.of("first", "second")) {
                assertThat(notes)
                        .containsPattern("Provider: load\\s+Name: " + name + "\\s+Location: 0x0*" + site(name));
                assertThat(listed).containsPattern("load:" + name + " +0x" + site(name) + " +0x" + site(name));
            }
            assertThat(notes).contains("Arguments: 8@%rdi -4@%rsi 8@%rdx");
            assertThat(listed).contains("8@%rdi -4@%rsi 8@%rdx");
        }
    }

    /** Where {@code .text} begins, and five bytes further. */
    private static String site(String name) {
        return name.equals("first") ? "190" : "195";
    }

    private static RunningTrace traceOf(Maker maker, Strategy strategy, String... options) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("trace", "--json", "--strategy", strategy.option()));
        arguments.addAll(List.of("-p", Integer.toString(maker.pid()), "load:*", "--str", "2"));
        arguments.addAll(List.of(options));
        return new RunningTrace(arguments.toArray(String[]::new));
    }

    @ParameterizedTest
    @CsvSource({"tmp, MULTI", "tmp, COOKIE", "tmp, IP_MAP", "memfd, MULTI", "memfd, COOKIE", "memfd, IP_MAP"})
    void eachEventHasItsArguments(String place, Strategy strategy) throws IOException, InterruptedException {
        strategy.insistOn();
        try (Maker maker = start(place);
                RunningTrace trace = traceOf(maker, strategy, "--count", "20")) {
            trace.awaitMessage("tracing 2 probes at 2 sites");
            assertThat(maker.command("fire")).isEqualTo("fired");
            Commands.Result result = trace.await();
            assertThat(result.exitCode()).as(result.err()).isZero();
            List<Map<String, @Nullable Object>> lines = Json.lines(result.out());
            assertThat(lines).hasSize(21);
            for (int i = 0; i < 10; i++) {
                assertThat(lines.get(2 * i)).containsEntry("probe", "load:first");
                assertThat(lines.get(2 * i).get("args"))
                        .isEqualTo(List.of(i * 1_000_000_007L, (long) -i, i % 2 == 0 ? "even" : "odd"));
                assertThat(lines.get(2 * i + 1)).containsEntry("probe", "load:second");
            }
            assertThat(lines.getLast()).containsEntry("events", 20L).containsEntry("exact", true);
        }
    }

    /**
     * A library that comes again at its addresses, one at other addresses, and another one at the same addresses: each
     * round has its events, once.
     */
    @ParameterizedTest
    @CsvSource({"tmp, MULTI", "tmp, COOKIE", "tmp, IP_MAP", "memfd, MULTI", "memfd, COOKIE", "memfd, IP_MAP"})
    void aLibraryMayComeAgain(String place, Strategy strategy) throws IOException, InterruptedException {
        strategy.insistOn();
        try (Maker maker = start(place);
                RunningTrace trace = traceOf(maker, strategy, "--follow", "--count", "100")) {
            trace.awaitMessage("tracing 2 probes at 2 sites");
            assertThat(maker.command("fire")).isEqualTo("fired");
            List<String> places = new ArrayList<>();
            for (String next : List.of("load", "load elsewhere", "replace", "replace")) {
                assertThat(maker.command("unload")).isEqualTo("unloaded");
                places.add(maker.command(next));
                assertThat(places.getLast()).startsWith("loaded at");
                assertThat(maker.command("fire")).isEqualTo("fired");
            }
            assertThat(places.get(1)).isNotEqualTo(places.get(0));
            Commands.Result result = trace.await();
            assertThat(result.exitCode()).as(result.err()).isZero();
            List<Map<String, @Nullable Object>> lines = Json.lines(result.out());
            assertThat(lines.getLast()).containsEntry("events", 100L).containsEntry("exact", true);
            for (int i = 0; i < 100; i += 2) {
                int round = i / 2 % 10;
                assertThat(lines.get(i).get("args"))
                        .isEqualTo(List.of(round * 1_000_000_007L, (long) -round, round % 2 == 0 ? "even" : "odd"));
            }
        }
    }

    /** A process that makes libraries for a while: each is freed when it is unloaded, though it was traced. */
    @ParameterizedTest
    @CsvSource({"MULTI", "IP_MAP"})
    void aLibraryInMemoryIsFreed(Strategy strategy) throws IOException, InterruptedException {
        strategy.insistOn();
        try (Maker maker = start("memfd");
                RunningTrace trace = new RunningTrace(
                        "trace",
                        "--follow",
                        "--strategy",
                        strategy.option(),
                        "-p",
                        Integer.toString(maker.pid()),
                        "load:*")) {
            trace.awaitMessage("tracing 2 probes at 2 sites");
            long before = links(trace);
            assertThat(before).isPositive();
            for (int i = 0; i < 4; i++) {
                assertThat(maker.command("unload")).isEqualTo("unloaded");
                assertThat(maker.command("replace")).startsWith("loaded at");
            }
            Await.until("as many links as for one library", () -> links(trace), now -> now == before);
            trace.interrupt();
            assertThat(trace.await().exitCode()).isZero();
        }
    }

    /** The number of its descriptors of BPF links and perf events. */
    private static long links(RunningTrace trace) throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc", Integer.toString(trace.pid()), "fd"))) {
            return descriptors
                    .map(UsdtRunTimeLibraryTest::target)
                    .filter(name ->
                            name.contains("bpf_link") || name.contains("bpf-link") || name.contains("perf_event"))
                    .count();
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return ""; // it is closed
        }
    }
}
