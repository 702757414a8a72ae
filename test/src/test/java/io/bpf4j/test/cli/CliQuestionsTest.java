package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.HELD_COMMANDS;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Question;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Questions as a user asks them, of a program whose events are known. */
@Requires({BPF, GCC, HELD_COMMANDS, SDT_H})
@Timeout(600) // for what hangs
class CliQuestionsTest {
    @TempDir
    static Path folder;

    private static Path program;

    @BeforeAll
    static void compile() {
        program = CPrograms.asked();
    }

    /** The lines of a question about a run of the program. */
    private static List<Map<String, @Nullable Object>> ask(String run, String... question)
            throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of(question));
        line.addAll(1, List.of("--json", "-c", program + " " + run));
        Commands.Result result = Cli.run(line.toArray(String[]::new));
        assertThat(result.exitCode()).as(line + ": " + result.err()).isZero();
        return Json.lines(result.out());
    }

    private static Map<Object, Object> counts(List<Map<String, @Nullable Object>> lines, String key) {
        Map<Object, Object> counts = new HashMap<>();
        for (Map<String, @Nullable Object> line : lines.subList(0, lines.size() - 1)) {
            counts.put(key(line).get(key), line.get("count"));
        }
        return counts;
    }

    @SuppressWarnings("unchecked")
    private static Map<Object, Object> key(Map<String, @Nullable Object> line) {
        return (Map<Object, Object>) Objects.requireNonNull(line.get("key"));
    }

    @SuppressWarnings("unchecked")
    private static List<Map<Object, Object>> buckets(Map<String, @Nullable Object> line) {
        return (List<Map<Object, Object>>) Objects.requireNonNull(line.get("buckets"));
    }

    @Test
    void countsAreExactFromManyThreads() throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> lines =
                ask("threads 16 50000", "count", "asked:value", "--by", "str(arg1)");
        assertThat(counts(lines, "str(arg1)"))
                .containsExactlyInAnyOrderEntriesOf(
                        Map.of("red", 16 * 16667L, "green", 16 * 16667L, "blue", 16 * 16666L));
    }

    @Test
    void eachCombinationOfKeysIsCounted() throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> lines =
                ask("values 600", "count", "asked:value", "--by", "str(arg1), arg0 % 2, probe");
        assertThat(lines).hasSize(7);
        assertThat(lines.subList(0, 6)).allSatisfy(line -> {
            assertThat(line).containsEntry("count", 100L);
            assertThat(key(line)).hasSize(3).containsValue("asked:value");
        });
    }

    @Test
    void aFilterIsEvaluatedInTheKernel() throws IOException, InterruptedException {
        assertThat(counts(
                        ask("values 600", "count", "asked:value", "--where", "arg0 < 100 && str(arg1) ~ \"*e?*n\""),
                        "none"))
                .containsValue(33L);
        assertThat(ask("values 600", "count", "asked:value", "--where", "arg3 < -290")
                        .getLast())
                .containsEntry("events", 10L);
    }

    @Test
    void aHistogramHasQuartersOfPowersOfTwo() throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> lines = ask("values 4000", "hist", "asked:value", "--of", "arg2");
        Map<String, @Nullable Object> histogram = lines.getFirst();
        assertThat(histogram)
                .containsEntry("count", 4000L)
                .containsEntry("min", 1L)
                .containsEntry("max", 1L << 39);
        List<Map<Object, Object>> buckets = buckets(histogram);
        assertThat(buckets)
                .as("1 to 7, four for each power of two below 2^39, and one")
                .hasSize(7 + 4 * 36 + 1);
        assertThat(buckets.subList(6, 9))
                .containsExactly(
                        Map.of("from", 7L, "to", 7L, "count", 0L),
                        Map.of("from", 8L, "to", 9L, "count", 100L),
                        Map.of("from", 10L, "to", 11L, "count", 0L));
        assertThat(buckets)
                .filteredOn(bucket -> !Objects.equals(bucket.get("count"), 0L))
                .hasSize(40)
                .allSatisfy(bucket -> assertThat(bucket).containsEntry("count", 100L));
    }

    @Test
    void aHistogramForPeopleHasRowsOfPowersOfTwo() throws IOException, InterruptedException {
        String histogram = Cli.run("hist", "-c", program + " values 280", "asked:value", "--of", "arg0")
                .out();
        assertThat(histogram)
                .contains("  4 .. 8      4 ", "  128 .. 256  128 ", "  256 .. 512  24 ")
                .contains("280 events, min 0, mean 140, p99 <= 279, max 279");
        assertThat(Cli.run("hist", "-c", program + " values 280", "asked:value", "--of", "arg0 * 10")
                        .out())
                .as("the 278th is 2770, in 2560 to 3071")
                .contains("p99 <= 2790, max 2790");
        assertThat(Cli.run("hist", "-c", program + " values 2400", "asked:value", "--of", "arg0 == 2399 ? 9999 : arg0")
                        .out())
                .as("the 2376th is 2375, in 2048 to 2559")
                .contains("p99 <= 2559, max 9999");
    }

    @Test
    void aHistogramHasNegativeValues() throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> lines =
                ask("values 100", "hist", "asked:value", "--of", "arg3", "--linear", "-20:20:10");
        assertThat(buckets(lines.getFirst()))
                .extracting(bucket -> bucket.get("count"))
                .containsExactly(30L, 10L, 10L, 10L, 10L, 30L);
        assertThat(lines.getFirst())
                .containsEntry("min", -50L)
                .containsEntry("max", 49L)
                .containsEntry("sum", -50L);
    }

    @Test
    void aLatencyPairsEventsOfAThread() throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> lines =
                ask("pairs 20 2000", "latency", "asked:begin", "asked:end", "--by", "str(arg1)");
        assertThat(counts(lines, "str(arg1)")).isEqualTo(Map.of("red", 7L, "green", 7L, "blue", 6L));
        assertThat(lines.subList(0, 3)).allSatisfy(line -> {
            assertThat(line).containsEntry("unit", "ns");
            assertThat((Long) line.get("min")).isGreaterThanOrEqualTo(2_000_000L);
        });
        assertThat(lines.getLast())
                .containsEntry("events", 20L)
                .containsEntry("unpaired_ends", 1L)
                .containsEntry("still_open", 1L);
    }

    @Test
    void aLatencyPairsByAValue() throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> lines =
                ask("crossed 500", "latency", "asked:begin", "asked:end", "--pair", "arg0");
        assertThat(lines.getLast()).containsEntry("events", 500L).doesNotContainKey("unpaired_ends");
    }

    @Test
    void slowOnesAreShownWithTheirValues() throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> lines = ask(
                "pairs 5 3000", "latency", "asked:begin", "asked:end", "--slower", "1ms", "--show", "arg0, str(arg1)");
        List<Map<String, @Nullable Object>> events =
                lines.stream().filter(line -> "event".equals(line.get("type"))).toList();
        assertThat(events).hasSize(5);
        assertThat((Map<?, ?>) events.get(1).get("values")).isEqualTo(Map.of("arg0", 1L, "str(arg1)", "green"));
        assertThat((Long) events.get(1).get("latency_ns")).isGreaterThanOrEqualTo(3_000_000L);
    }

    /** As of all options that take a time. */
    @Test
    void aTimeWithoutAUnitIsInSeconds() throws IOException, InterruptedException {
        assertThat(slowOnes("0.001")).isEqualTo(5);
        assertThat(slowOnes("1000")).isZero();
    }

    private static long slowOnes(String time) throws IOException, InterruptedException {
        return ask("pairs 5 3000", "latency", "asked:begin", "asked:end", "--slower", time).stream()
                .filter(line -> "event".equals(line.get("type")))
                .count();
    }

    @Test
    void whatCanNotBeReadIsCounted() throws IOException, InterruptedException {
        assertThat(ask("bare", "count", "asked:value", "--by", "str(arg1)").getLast())
                .containsEntry("events", 0L)
                .containsEntry("unreadable", 1L);
    }

    @Test
    void keysThatDoNotFitAreCounted() throws IOException, InterruptedException {
        Map<String, @Nullable Object> sums = ask(
                        "values 1000", "count", "asked:value", "--by", "arg0", "--max-keys", "10")
                .getLast();
        long counted = (Long) Objects.requireNonNull(sums.get("events"));
        assertThat(sums).containsEntry("no_room_for_key", 1000 - counted);
        assertThat(counted).isGreaterThanOrEqualTo(10);
    }

    @Test
    void distributionsHaveRoomForFewerKeysThanCounts() throws IOException, InterruptedException {
        assertThat(ask("values 3000", "count", "asked:value", "--by", "arg0").getLast())
                .containsEntry("events", 3000L)
                .containsEntry("exact", true);
        Map<String, @Nullable Object> sums = ask("values 3000", "hist", "asked:value", "--of", "arg0", "--by", "arg0")
                .getLast();
        long counted = (Long) Objects.requireNonNull(sums.get("events"));
        assertThat(counted).isBetween(2560L, 2999L);
        assertThat(sums).containsEntry("no_room_for_key", 3000 - counted);
    }

    @Test
    void aMistakeIsShownBeforeAnythingIsAttached() throws IOException, InterruptedException {
        Commands.Result result = Cli.run("count", program.toString(), "asked:value", "--where", "arg0 > nonsense");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.err()).contains("nonsense").contains("^");
        assertThat(result.err().lines()).noneMatch(line -> line.contains("tracing"));
    }

    /** asked:begin has one argument, asked:end two. */
    @Test
    void whatOnlySomeProbesHaveIsGuarded() throws IOException, InterruptedException {
        String end = "probe == \"asked:end\"";
        assertThat(ask("pairs 20 1", "count", "asked:begin", "asked:end", "--where", end + " && str(arg1) == \"red\"")
                        .getLast())
                .containsEntry("events", 7L)
                .doesNotContainKey("unreadable");
        assertThat(counts(ask("pairs 20 1", "count", "asked:*", "--where", end, "--by", "str(arg1)"), "str(arg1)"))
                .containsEntry("red", 7L)
                .containsEntry("none", 1L);
        String key = end + " ? str(arg1) : \"-\"";
        assertThat(counts(ask("pairs 20 1", "count", "asked:begin", "asked:end", "--by", key), key))
                .containsEntry("-", 21L)
                .containsEntry("red", 7L);
        Commands.Result unguarded =
                Cli.run("count", "-c", program + " pairs 1 1", "asked:begin", "asked:end", "--by", "arg1");
        assertThat(unguarded.err()).contains("probe asked:begin has no 'arg1'; other probes have it: guard it");
        Commands.Result never =
                Cli.run("count", program.toString(), "asked:begin", "asked:end", "--where", "probe == \"x\"");
        assertThat(never.exitCode()).isEqualTo(2);
        assertThat(never.err()).contains("the filter is never true of any of 2 probes, such as asked:end");
    }

    @Test
    void aHistogramOfTextIsRefused() throws IOException, InterruptedException {
        assertThat(Cli.run("hist", program.toString(), "asked:value", "--of", "str(arg1)")
                        .err())
                .contains("str(arg1)")
                .doesNotContain("tracing");
    }

    @Test
    void whatDoesNotFitTogetherIsWrongUsage() throws IOException, InterruptedException {
        assertThat(refused("latency", "asked:begin", "asked:begin")).contains("both begins and ends a pair");
        assertThat(refused("latency", "asked:*", "asked:end")).contains("asked:end both begins and ends a pair");
        assertThat(refused("hist", "asked:value", "--of", "arg2", "--linear", "-10:10:5"))
                .contains("unsigned", "-10", "(long)");
    }

    private static String refused(String command, String... more) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of(command, program.toString()));
        line.addAll(List.of(more));
        Commands.Result result = Cli.run(line.toArray(String[]::new));
        assertThat(result.exitCode()).as(result.err()).isEqualTo(2);
        return result.err();
    }

    /** A library that was built in two ways may have a probe with an int in one, and with a long in the other. */
    @Test
    void aProbeOfSeveralFilesHasTheWidestArguments() throws IOException, InterruptedException {
        Path narrow = sized("int");
        Path wide = sized("long");
        assertThat(sizes(narrow.toString(), wide.toString(), "sized:probe")).isEqualTo(Map.of(-2L, 1L, 1L << 40, 1L));
        assertThat(sizes("sized:probe")).as("found later").isEqualTo(Map.of(-2L, 1L, 1L << 40, 1L));
        assertThat(sizesOf(narrow + " " + wide, "sized:probe"))
                .as("the wide one is found later")
                .isEqualTo(Map.of(-2L, 1L, 1L << 40, 1L));
    }

    /** Bits of a floating-point number are no number that is worth counting. */
    @Test
    void aLaterProbeWithAFloatingPointArgumentIsNotAttached() throws IOException, InterruptedException {
        Path floating = CPrograms.compile("versions", "-O2", "-DTYPE=double");
        Path whole = CPrograms.compile("versions", "-O2", "-DTYPE=long");
        for (String run : List.of(whole + " " + floating, "sh -c '" + whole + "; " + floating + "'")) {
            Commands.Result result = Cli.run("count", "--json", "--follow", "-c", run, "late:probe", "--by", "arg0");
            assertThat(result.err())
                    .contains("bpf4j: attach late:probe in " + floating
                            + ": arg0 is a floating-point number of 8 bytes in this file");
            List<Map<String, @Nullable Object>> lines = Json.lines(result.out());
            assertThat(counts(lines, "arg0")).isEqualTo(Map.of(-7L, 1L));
            assertThat(lines.getLast()).containsEntry("exact", false);
        }
    }

    private static Map<Object, Object> sizes(String... operands) throws IOException, InterruptedException {
        return sizesOf("sh -c '" + folder.resolve("sized-int") + "; " + folder.resolve("sized-long") + "'", operands);
    }

    private static Map<Object, Object> sizesOf(String run, String... operands)
            throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of("count", "--json", "--follow", "-c", run, "--by", "arg0"));
        line.addAll(List.of(operands));
        Commands.Result result = Cli.run(line.toArray(String[]::new));
        assertThat(result.exitCode()).as(result.err()).isZero();
        return counts(Json.lines(result.out()), "arg0");
    }

    private static Path sized(String type) throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("sized.c"), """
                #include <sys/sdt.h>
                #include <unistd.h>
                int main(int argc, char **argv) {
                    TYPE value = sizeof(TYPE) == 4 ? -2 : (TYPE)(1L << 20 << 20);
                    asm volatile("" : "+r"(value));
                    DTRACE_PROBE1(sized, probe, value);
                    return argc > 1 ? execv(argv[1], argv + 1) : 0;
                }
                """);
        Path made = folder.resolve("sized-" + type);
        Commands.check(List.of("gcc", "-w", "-O2", "-DTYPE=" + type, "-o", made.toString(), source.toString()));
        return made;
    }

    /** PostgreSQL 16 removed the argument before 'hit'; which version a file has, the number of its arguments tells. */
    @Test
    void aNameIsAnotherArgumentInAnotherVersion() throws IOException, InterruptedException {
        Path old = version("old", "DTRACE_PROBE8(postgresql, buffer__read__done, 1, 2, 3, 4, 5, 6, 0, 1)");
        Path young = version("young", "DTRACE_PROBE7(postgresql, buffer__read__done, 1, 2, 3, 4, 5, 6, 1)");
        String probe = "postgresql:buffer__read__done";
        for (List<String> operands : List.of(List.of(old.toString(), young.toString(), probe), List.of(probe))) {
            List<String> line = new ArrayList<>(List.of(
                    "count", "--json", "--follow", "-c", "sh -c '" + old + "; " + young + "'", "--by", "probe,hit"));
            line.addAll(operands);
            List<Map<String, @Nullable Object>> lines =
                    Json.lines(Cli.run(line.toArray(String[]::new)).out());
            assertThat(lines).as(operands.toString()).hasSize(2);
            assertThat(key(lines.getFirst())).containsEntry("hit", true).containsEntry("probe", probe);
            assertThat(lines.getFirst()).containsEntry("count", 2L);
            line.set(6, "extend");
            lines = Json.lines(Cli.run(line.toArray(String[]::new)).out());
            assertThat(counts(lines, "extend")).isEqualTo(Map.of(false, 1L));
            assertThat(lines.getLast()).as("the young one has none").containsEntry("unreadable", 1L);
        }
    }

    private static Path version(String name, String probe) throws IOException, InterruptedException {
        Path source = Files.writeString(
                folder.resolve(name + ".c"), "#include <sys/sdt.h>\nint main(void) { " + probe + "; return 0; }\n");
        Path made = folder.resolve(name);
        Commands.check(List.of("gcc", "-O2", "-o", made.toString(), source.toString()));
        return made;
    }

    @Test
    void aFlameGraphThatCanNotBeWrittenIsNoInternalError() throws IOException, InterruptedException {
        Commands.Result result = Cli.run("stack", "-c", program + " tree 3", "asked:leaf", "--svg", "/dev/full");
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).contains("'/dev/full' can't be written").doesNotContain("internal error");
    }

    @Test
    void aReturnHasNoArguments() throws IOException, InterruptedException {
        assertThat(Cli.run("count", program.toString(), "ur:leaf", "--by", "arg0")
                        .err())
                .contains("no 'arg0': these probes have no arguments; the result of a function is 'retval'");
    }

    @Test
    @Requires(BPF_COOKIE)
    void anUnknownFunctionComesWithTheNearest() throws IOException, InterruptedException {
        for (String function : List.of("u:midle", "ur:midle", "u:*midle")) {
            Commands.Result result = Cli.run("count", "-c", program + " stacks 1", function);
            assertThat(result.err())
                    .contains("no function " + function + " in ", "; the nearest is 'middle'; it may be");
            assertThat(result.exitCode()).isEqualTo(1);
        }
        assertThat(Cli.run("count", "-c", program + " stacks 1", "u:idd").err())
                .as("a name that contains it, as that of a C++ function does")
                .contains("no function u:idd in ", "; the nearest is 'middle'");
        assertThatThrownBy(() -> Question.on(List.of())
                        .alsoOn(FunctionProbe.entry(program, "midle"))
                        .open())
                .isInstanceOf(AttachException.class)
                .hasMessageContaining("the file has no function \"midle\"; the nearest is 'middle'");
    }

    /** The shell that becomes the command allocates memory, too, and has mapped the same library. */
    @Test
    @Requires(BPF_COOKIE)
    void theShellBeforeACommandIsNotCounted(@TempDir Path folder) throws IOException, InterruptedException {
        Path source = folder.resolve("allocates.c");
        Files.writeString(source, """
            #include <stdlib.h>
            int main(void) {
                for (int n = 0; n < 7; n++) free(*(void *volatile *)&(void *){malloc(100 + n)});
                return 0;
            }
            """);
        Path made = folder.resolve("allocates");
        Commands.check(List.of("gcc", "-O1", "-o", made.toString(), source.toString()));
        Commands.Result counted =
                Cli.run("count", "-c", made.toString(), "u:libc.so.6:malloc", "--by", "comm", "--json");
        assertThat(counted.out()).as(counted.err()).isEqualTo("""
            {"type":"row","key":{"comm":"allocates"},"count":7}
            {"type":"end","events":7,"lost":0,"exact":true,"question":{"probes":["u:malloc"]}}
            """);
    }

    /** Tables of symbols have static functions of one name, and functions that no kernel can probe. */
    @Test
    @Requires(BPF_COOKIE)
    void aWildcardTakesEveryFunctionThatCanBeProbed(@TempDir Path folder) throws IOException, InterruptedException {
        Path main = folder.resolve("main.c");
        Files.writeString(main, """
            #include <stdio.h>
            __attribute__((noinline)) static int twice(int n) { return n + 1; }
            int other(int n);
            int main(int argc, char **argv) {
                (void)argv;
                return argc > 1 ? getchar() : other(twice(argc)) == 0;
            }
            """);
        Path other = folder.resolve("other.c");
        Files.writeString(other, """
            __attribute__((noinline)) static int twice(int n) { return n * 3; }
            int other(int n) { return twice(n) + twice(n + 1); }
            asm(".text; .globl odd; .type odd, @function; odd: %s; .size odd, . - odd");
            """.formatted(breakpoint()));
        Path made = folder.resolve("twice");
        Commands.check(List.of("gcc", "-O1", "-fno-ipa-icf", "-o", made.toString(), main.toString(), other.toString()));
        Commands.Result all = Cli.run("count", "-c", made.toString(), "u:*", "--by", "probe", "--json");
        assertThat(all.out())
                .as(all.err())
                .contains("{\"type\":\"row\",\"key\":{\"probe\":\"u:twice\"},\"count\":3}")
                .contains("{\"type\":\"row\",\"key\":{\"probe\":\"u:main\"},\"count\":1}");
        for (String operand : List.of("u:" + made + ":twice", "uretprobe:" + made + ":twice")) {
            Commands.Result one = Cli.run("count", "-c", made.toString(), operand, "--json");
            assertThat(one.out()).as(one.err()).contains("\"count\":3}");
        }

        // The kernel looks at the instructions when a process maps the file.
        Process running = new ProcessBuilder(made.toString(), "waits").start();
        try (Processes.Ended _ = Processes.endAfterwards(running)) {
            ProcessState.awaitReadOfInput(running.pid());
            String pid = Long.toString(running.pid());
            assertThat(Cli.run("count", "-p", pid, made.toString(), "u:*", "--duration", "0.2")
                            .err())
                    .contains("u:odd in " + made + " is left out: the kernel can't probe its first instruction");
            assertThat(Cli.run("count", "-p", pid, made.toString(), "u:odd", "--duration", "0.2")
                            .err())
                    .contains("u:odd in " + made + ": attach")
                    .contains("the kernel can't probe the instruction there: it is a breakpoint");
        }
    }

    /** The other function is counted, and the message comes once for all children. */
    @Test
    void aFunctionThatIsRefusedInChildrenIsSaidOnce(@TempDir Path folder) throws IOException, InterruptedException {
        Path source = folder.resolve("forks.c");
        Files.writeString(source, """
            #include <sys/wait.h>
            #include <unistd.h>
            __attribute__((noipa)) void fine(void) { volatile int here = 1; (void)here; }
            asm(".text; .globl odd; .type odd, @function; odd: %s; .size odd, . - odd");
            int main(void) {
                for (int child = 0; child < 3; child++) {
                    if (!fork()) { fine(); _exit(0); }
                    wait(0);
                }
                return 0;
            }
            """.formatted(breakpoint()));
        Path made = folder.resolve("forks");
        Commands.check(List.of("gcc", "-O1", "-o", made.toString(), source.toString()));
        Commands.Result counted = Cli.run("count", "--follow", "--json", "-c", made.toString(), "u:fine", "u:odd");
        assertThat(counted.out())
                .as(counted.err())
                .startsWith(
                        "{\"type\":\"row\",\"key\":{},\"count\":3}\n{\"type\":\"end\",\"events\":3,\"lost\":0,\"exact\":false,"
                                + "\"reason\":\"attaching to new probes failed 3 times\",\"gaps\":[{\"kind\":\"not_attached\","
                                + "\"message\":\"attaching to new probes failed 3 times\"}],"
                                + "\"remarks\":[{\"kind\":\"not_attached\",\"subject\":\"process ");
        assertThat(counted.err()).containsOnlyOnce("u:odd in " + made + ": attach");
        Commands.Result all = Cli.run("count", "--follow", "-c", made.toString(), "u:fin*", "u:od*");
        assertThat(all.out()).isEqualTo("3 events\n");
        assertThat(all.err()).containsOnlyOnce("u:odd in " + made + " is left out");
    }

    /** The kernel's own, which it puts where it probes. */
    private static String breakpoint() {
        return switch (System.getProperty("os.arch")) {
            case "aarch64" -> "brk #5";
            case "riscv64" -> "ebreak";
            case "s390x" -> ".short 2, 2";
            default -> "int3; ret";
        };
    }

    @Test
    void tablesAndHistogramsAreForPeople() throws IOException, InterruptedException {
        String table = Cli.run("count", "-c", program + " values 30", "asked:value", "--by", "str(arg1)")
                .out();
        assertThat(table).contains("COUNT  str(arg1)").contains("10     green").endsWith("30 events\n");
        String histogram = Cli.run("hist", "-c", program + " values 40", "asked:value", "--of", "arg2 & 255")
                .out();
        assertThat(histogram).contains("128 .. 256  1").contains("█").contains("max 128");
    }

    @Test
    void theCatalogNamesArguments() throws IOException, InterruptedException {
        assertThat(Cli.check("catalog", "hotspot:class__loaded")).contains("hotspot:class__loaded(name, name_length");
    }

    @Test
    void shownEventsHaveTheColumnsOfATrace() throws IOException, InterruptedException {
        String columns = "\\d\\d:\\d\\d:\\d\\d\\.\\d{6}  \\d+/\\d+ +asked +asked:value {15}";
        assertThat(Cli.run("trace", "-c", program + " values 1", "asked:value").out())
                .matches(columns + "arg0=0 .*\n1 event, 0 lost\n");
        assertThat(Cli.run("trace", "-c", program + " values 1", "asked:value", "--show", "arg0,str(arg1)")
                        .out())
                .matches(columns + "arg0=0 str\\(arg1\\)=red\n1 event, 0 lost\n");
    }

    @Test
    void aFilterGoesWithArgumentsThatAreText() throws IOException, InterruptedException {
        Commands.Result result =
                Cli.run("trace", "-c", program + " values 3", "asked:value", "--str", "1", "--where", "arg0 > 1");
        assertThat(result.out()).contains("arg0=2 str(arg1)=blue arg2=4 arg3=1").endsWith("1 event, 0 lost\n");
    }
}
