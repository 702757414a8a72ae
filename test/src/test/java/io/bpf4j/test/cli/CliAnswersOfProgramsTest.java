package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GDB;
import static io.bpf4j.test.support.Requirement.GXX;
import static io.bpf4j.test.support.Requirement.HOTSPOT_PROBES;
import static io.bpf4j.test.support.Requirement.POSTGRESQL;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Java;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.PausingMain;
import io.bpf4j.test.support.PostgresServer;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.data.Percentage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Answers about programs of others, beside what these programs say of themselves. */
@Requires(BPF)
@Timeout(1200) // for what hangs: a server starts, or a JVM collects garbage under a trace
class CliAnswersOfProgramsTest {
    /** {@code GC(7) Pause Full (System.gc()) 27M->12M(61M) 41.502ms}. */
    private static final Pattern PAUSE = Pattern.compile("GC\\(\\d+\\) Pause .* (\\d+\\.\\d+)ms");

    /** {@code LOG:  duration: 20.620 ms  statement: select …}. */
    private static final Pattern DURATION = Pattern.compile("duration: (\\d+\\.\\d+) ms  statement: (.*)");

    @TempDir
    static Path folder;

    private static List<Map<String, @Nullable Object>> ask(String... question)
            throws IOException, InterruptedException {
        Commands.Result result = Cli.run(question);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return Json.lines(result.out());
    }

    /** Numbers of milliseconds in lines of a log. */
    private static List<Double> millis(Stream<String> lines, Pattern pattern) {
        return lines.map(pattern::matcher)
                .filter(Matcher::find)
                .map(found -> Double.valueOf(found.group(1)))
                .toList();
    }

    /**
     * Each of these times is some milliseconds, and nearly that in the log. But between a probe and the clock of the
     * log the process may have to wait for a processor, for longer than all of it takes; so the half of them is
     * compared that differs least.
     *
     * @param events of the answer, in the order of the log
     */
    private static void assertSame(
            Map<String, @Nullable Object> distribution,
            List<Map<String, @Nullable Object>> events,
            List<Double> logged) {
        assertThat(distribution).containsEntry("unit", "ns").containsEntry("count", (long) logged.size());
        List<Long> measured = events.stream()
                .map(event -> (Long) Objects.requireNonNull(event.get("latency_ns")))
                .toList();
        assertThat(measured).hasSameSizeAs(logged);
        assertThat(distribution)
                .containsEntry(
                        "sum", measured.stream().mapToLong(Long::longValue).sum());
        List<Integer> closest = IntStream.range(0, logged.size())
                .boxed()
                .sorted(Comparator.comparingDouble(i -> Math.abs(measured.get(i) / 1e6 / logged.get(i) - 1)))
                .limit(logged.size() / 2)
                .toList();
        assertThat(closest.stream().mapToDouble(i -> measured.get(i) / 1e6).sum())
                .isCloseTo(closest.stream().mapToDouble(logged::get).sum(), Percentage.withPercentage(5));
    }

    @Test
    @Requires(HOTSPOT_PROBES)
    void pausesOfAJvmAreThoseOfItsLog() throws IOException, InterruptedException {
        Path log = folder.resolve("gc.log");
        List<Map<String, @Nullable Object>> lines = ask(
                "latency",
                "--json",
                "-c",
                Java.path() + " -XX:+UseSerialGC -Xmx64m -Xlog:gc:file=" + log + " -cp "
                        + TargetProgram.testModule().resolve("target/test-classes") + " " + PausingMain.class.getName(),
                "hotspot:gc__begin",
                "hotspot:gc__end",
                "--slower",
                "1ns");
        List<Double> pauses = millis(Files.readAllLines(log).stream(), PAUSE);
        assertThat(pauses).hasSizeGreaterThan(30);
        Map<String, @Nullable Object> distribution = lines.get(lines.size() - 2);
        assertSame(distribution, lines.subList(0, lines.size() - 2), pauses);
        // The probes are around what the log measures, and the log has microseconds.
        assertThat((Long) Objects.requireNonNull(distribution.get("sum")) / 1e6)
                .isGreaterThan(pauses.stream().mapToDouble(Double::doubleValue).sum() - 0.001 * pauses.size());
        long all = pauses.size();
        assertThat(Json.withoutQuestion(lines.getLast()))
                .isEqualTo(Map.of("type", "end", "events", all, "shown", all, "lost", 0L, "exact", true));
    }

    @Test
    @Requires(HOTSPOT_PROBES)
    void classesOfAJvmAreThoseOfItsLog() throws IOException, InterruptedException {
        Path log = folder.resolve("classes.log");
        List<Map<String, @Nullable Object>> lines = ask(
                "count",
                "--json",
                "-c",
                Java.path() + " -Xlog:class+load:file=" + log + " -version",
                "hotspot:class__loaded",
                "--by",
                "name");
        List<String> logged = Files.readAllLines(log).stream()
                .filter(line -> line.contains(" source: "))
                .map(line -> line.substring(0, line.indexOf(" source: ")))
                .map(line -> line.substring(line.lastIndexOf(' ') + 1).replace('.', '/'))
                .toList();
        assertThat(logged).hasSizeGreaterThan(100);
        assertThat(lines.getLast()).containsEntry("events", (long) logged.size());
        List<String> counted = lines.subList(0, lines.size() - 1).stream()
                .map(line -> (Map<?, ?>) Objects.requireNonNull(line.get("key")))
                .map(key -> String.valueOf(key.get("name")))
                .toList();
        // Text of a key has a bound; a hidden class has an address in its name, which the log writes in another way.
        assertThat(logged)
                .filteredOn(name -> name.length() < 60 && !name.contains("+") && !name.contains("0x"))
                .isNotEmpty()
                .allMatch(counted::contains);
    }

    /** As a terminal sends queries, as drivers do, and as drivers do for queries that they send often. */
    @Test
    @Requires(POSTGRESQL)
    void executionsOfPostgresqlAreThoseOfItsLogInEachProtocol() throws IOException, InterruptedException {
        try (PostgresServer server = PostgresServer.start()) {
            server.sql("alter role postgres set log_statement = 'all'");
            for (String protocol : List.of("simple", "extended", "prepared")) {
                int before = server.log().size();
                Commands.Result result;
                try (RunningTrace executions = new RunningTrace(
                        "postgres", "executions", "--json", server.executable().toString())) {
                    executions.awaitMessage("tracing 2 probes");
                    server.bench("select 6 * 7", protocol, 1000);
                    executions.interrupt();
                    result = executions.await();
                }
                assertThat(result.exitCode()).as(result.err()).isZero();
                List<String> log = server.log();
                long logged = log.subList(before, log.size()).stream()
                        .filter(line -> line.contains("LOG:  statement: ") || line.contains("LOG:  execute "))
                        .count();
                assertThat(logged).as(protocol).isGreaterThanOrEqualTo(1000);
                assertThat(Json.lines(result.out()).getLast())
                        .as(protocol)
                        .containsEntry("events", logged)
                        .containsEntry("exact", true);
            }
        }
    }

    /** A prepared query is sent once and executed often, so the text comes from the server's status. */
    @Test
    @Requires(POSTGRESQL)
    void textsOfPostgresqlsQueriesAreThoseOfItsLogInEachProtocol() throws IOException, InterruptedException {
        Pattern logged = Pattern.compile("LOG:  (?:statement|execute [^:]*): (.*)");
        try (PostgresServer server = PostgresServer.start()) {
            server.sql("alter role postgres set log_statement = 'all'");
            for (String protocol : List.of("simple", "extended", "prepared")) {
                int before = server.log().size();
                Commands.Result result;
                try (RunningTrace queries = new RunningTrace(
                        "postgres", "queries", "--json", server.executable().toString())) {
                    queries.awaitMessage("tracing 2 probes");
                    server.bench("select 6 * 7;\nselect 6 * :scale + 1", protocol, 1000);
                    queries.interrupt();
                    result = queries.await();
                }
                assertThat(result.exitCode()).as(result.err()).isZero();
                List<String> log = server.log();
                Map<String, Long> truth = log.subList(before, log.size()).stream()
                        .map(logged::matcher)
                        .filter(Matcher::find)
                        .collect(Collectors.groupingBy(line -> line.group(1), Collectors.counting()));
                assertThat(truth.values())
                        .as(protocol)
                        .filteredOn(count -> count == 1000)
                        .hasSize(2);
                List<Map<String, @Nullable Object>> lines = Json.lines(result.out());
                assertThat(lines.getLast()).containsEntry("exact", true);
                Map<String, Long> counts = new HashMap<>();
                for (Map<String, @Nullable Object> line : lines.subList(0, lines.size() - 1)) {
                    String text =
                            String.valueOf(((Map<?, ?>) Objects.requireNonNull(line.get("key"))).get("begin.status"));
                    counts.put(text, (Long) Objects.requireNonNull(line.get("count")));
                }
                assertThat(counts).as(protocol).isEqualTo(truth);
            }
        }
    }

    @Test
    @Requires(POSTGRESQL)
    void queriesOfPostgresqlAreThoseOfItsLog() throws IOException, InterruptedException {
        String sleep = "select pg_sleep(0.02)";
        try (PostgresServer server = PostgresServer.start()) {
            server.sql("alter role postgres set log_min_duration_statement = 0");
            server.sql(sleep); // the catalogs are read before the first query
            int before = server.log().size();
            List<Map<String, @Nullable Object>> lines;
            try (RunningTrace latency = new RunningTrace(
                    "latency",
                    "--json",
                    "-p",
                    Integer.toString(server.pid()),
                    "--follow",
                    "postgresql:query__start",
                    "postgresql:query__done",
                    "--where",
                    "query ~ \"*pg_sleep*\"",
                    "--slower",
                    "15ms",
                    "--show",
                    "query")) {
                latency.awaitMessage("tracing 2 probes");
                for (int i = 0; i < 20; i++) {
                    server.sql(sleep);
                }
                server.sql("select 6 * 7");
                latency.interrupt();
                Commands.Result result = latency.await();
                assertThat(result.exitCode()).as(result.err()).isZero();
                lines = Json.lines(result.out());
            }
            List<String> log = server.log();
            List<Double> logged =
                    millis(log.subList(before, log.size()).stream().filter(line -> line.endsWith(sleep)), DURATION);
            assertThat(logged).hasSize(20);
            Map<String, @Nullable Object> distribution = lines.get(lines.size() - 2);
            List<Map<String, @Nullable Object>> slow = lines.subList(0, lines.size() - 2);
            assertSame(distribution, slow, logged);
            assertThat((Long) distribution.get("min")).isGreaterThanOrEqualTo(20_000_000);
            assertThat(lines.getLast()).containsEntry("events", 20L).containsEntry("lost", 0L);
            assertThat(slow).hasSize(20).allSatisfy(event -> {
                assertThat(event).containsEntry("probe", "postgresql:query__done");
                assertThat(event.get("values")).isEqualTo(Map.of("query", sleep));
            });
        }
    }

    /** Compiles {@code src/test/c/throws/NAME.cc}. */
    private static Path throwing(String name, String... flags) throws IOException, InterruptedException {
        Path program = folder.resolve(name);
        Path source = TargetProgram.testModule().resolve("src/test/c/throws").resolve(name + ".cc");
        List<String> command = new ArrayList<>(
                List.of("g++", "-Wall", "-Wextra", "-Werror", "-O2", "-o", program.toString(), source.toString()));
        command.addAll(List.of(flags));
        Commands.check(command);
        return program;
    }

    @Test
    @Requires(GXX)
    void exceptionsWithLongNamesAreCountedApart() throws IOException, InterruptedException {
        Path program = throwing("names");
        for (String by : List.of("type", "type,pid > 0")) {
            List<Map<String, @Nullable Object>> lines =
                    ask("count", "libstdcxx:throw", "--by", by, "--json", "-c", program + " 1000");
            assertThat(lines.subList(0, lines.size() - 1).stream()
                            .map(each -> each.get("count") + " "
                                    + ((Map<?, ?>) Objects.requireNonNull(each.get("key"))).get("type"))
                            .map(each ->
                                    each.replaceFirst("Order.*(, .*>)", "$1").replaceFirst("Order.*(\\.\\.\\.)", "$1")))
                    .as("types whose names differ within the room of a key, and those that are cut before")
                    .containsExactlyInAnyOrder(
                            "250 shop::Failed<shop::Failed<shop::The, shop::Paid>",
                            "250 shop::Failed<shop::Failed<shop::The, shop::Sent>",
                            "500 N4shop6FailedIJNS0_IJNS_27The...");
            assertThat(Json.withoutQuestion(lines.getLast()))
                    .isEqualTo(Map.of("type", "end", "events", 1000L, "lost", 0L, "exact", true));
        }
        assertThat(Cli.run("count", "libstdcxx:throw", "--by", "str(type, 16)", "-c", program + " 1000")
                        .out())
                .as("a bound that the user chose cuts nothing")
                .contains("1000   N4shop6FailedIJN\n");
    }

    @Test
    @Requires(GXX)
    void exceptionsOfACxxProgramAreCountedByType() throws IOException, InterruptedException {
        Path program = throwing("main");
        for (List<String> question :
                List.of(List.of("count", "libstdcxx:throw", "--by", "type"), List.of("cxx", "exceptions"))) {
            List<String> line = Stream.concat(question.stream(), Stream.of("--json", "-c", program + " 1002"))
                    .toList();
            List<Map<String, @Nullable Object>> lines = ask(line.toArray(String[]::new));
            assertThat(lines.subList(0, lines.size() - 1))
                    .extracting(each -> each.get("count"))
                    .containsExactly(251L, 251L, 250L, 250L);
            assertThat(lines.subList(0, lines.size() - 1))
                    .extracting(each -> each.get("key"))
                    .contains(
                            Map.of("type", "shop::SoldOut"),
                            Map.of("type", "std::out_of_range"),
                            Map.of("type", "int"));
            assertThat(Json.withoutQuestion(lines.getLast()))
                    .isEqualTo(Map.of("type", "end", "events", 1002L, "lost", 0L, "exact", true));
        }
    }

    /** Inside of libstdc++ the register of frame pointers holds something else, which leads through a table of functions. */
    @Test
    @Requires(GXX)
    void exceptionsAreThrownByThoseWhoCall() throws IOException, InterruptedException {
        String command = throwing("callers", "-O1", "-fno-omit-frame-pointer") + " 1000";
        List<Map<String, @Nullable Object>> lines = ask("cxx", "throws", "--json", "-c", command);
        assertThat(lines.subList(0, lines.size() - 1))
                .isNotEmpty()
                .allSatisfy(stack -> assertThat(frames(stack)).startsWith("__cxa_throw", "inner", "outer", "main"));
        assertThat(lines.getLast()).containsEntry("events", 1000L);
        List<Map<String, @Nullable Object>> ofProbe = ask("stack", "libstdcxx:throw", "--json", "-c", command);
        assertThat(ofProbe.subList(0, ofProbe.size() - 1))
                .isNotEmpty()
                .allSatisfy(stack -> assertThat(frames(stack))
                        .as("no caller is made up")
                        .isSubsetOf("__cxa_throw", "inner", "outer", "main", "__libc_start_call_main", "[unknown]"));
        assertThat(ofProbe.getLast().get("remarks")).asString().contains("end early");
    }

    @Test
    @Requires({GXX, GDB})
    void thoseWhoThrowAreTheCallersThatGdbFinds() throws IOException, InterruptedException {
        String program = throwing("paths", "-O1", "-fno-omit-frame-pointer").toString();
        Path script = Files.writeString(folder.resolve("script"), """
                set breakpoint pending on
                set debuginfod enabled off
                break __cxa_throw
                commands
                silent
                bt
                continue
                end
                run
                """);
        String stacks =
                Commands.check(List.of("gdb", "-nx", "-batch", "-x", script.toString(), "--args", program, "90"));
        // "#1  0x00005555555553d6 in shop::Order::pay(long) ()"; a stack starts at #0 and ends in main.
        Map<String, Long> byGdb = Pattern.compile("(?<=^|\n)(?=#0 )")
                .splitAsStream(stacks)
                .filter(stack -> stack.startsWith("#0 "))
                .map(stack -> Pattern.compile("^#\\d+ .* in ([\\w:]+)\\(?.*$", Pattern.MULTILINE)
                        .matcher(stack)
                        .results()
                        .map(frame -> frame.group(1))
                        .collect(Collectors.joining(" ")))
                .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
        assertThat(byGdb).hasSize(5).containsEntry("__cxa_throw shop::Order::check shop::Order::pay main", 30L);

        List<Map<String, @Nullable Object>> lines = ask("cxx", "throws", "--json", "-c", program + " 90");
        Map<String, Long> ours = lines.subList(0, lines.size() - 1).stream()
                .collect(Collectors.toMap(
                        stack -> String.join(" ", untilMain(frames(stack))), stack -> (Long) stack.get("count")));
        assertThat(ours).isEqualTo(byGdb);
    }

    private static List<String> untilMain(List<String> frames) {
        return frames.subList(0, frames.indexOf("main") + 1);
    }

    private static List<String> frames(Map<String, @Nullable Object> stack) {
        return ((List<?>) Objects.requireNonNull(stack.get("frames")))
                .stream().map(String::valueOf).toList();
    }
}
