package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.CGROUP2;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.link.Link;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.ControlGroup;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.LineProcess;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Question;
import io.bpf4j.trace.Target;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Latencies whose begin and end have one address. The kernel must run the begin first: then each call is a pair. Else the
 * first end has no begin, the last begin has no end, and the others are paired with the call before.
 */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H})
@ExtendWith(LeakCheck.class)
@Timeout(600) // for what hangs
class PairsAtOneAddressTest {
    private static final long CALLS = 20;

    private static final List<List<String>> PAIRS = List.of(
            List.of("u:leaf", "shop:leaf"),
            List.of("shop:leaf", "u:leaf"),
            List.of("shop:first", "shop:second"),
            List.of("shop:second", "shop:first"),
            List.of("shop:first", "u:twice"),
            List.of("u:leaf", "u:other"),
            List.of("u:other", "u:leaf"),
            List.of("ur:leaf", "ur:other"),
            List.of("ur:other", "ur:leaf"));

    private static Path compiled(String... flags) {
        List<String> all = new ArrayList<>(List.of("-O2"));
        if (System.getProperty("os.arch").equals("amd64")) {
            all.add("-fcf-protection=none"); // else a function begins with an instruction of its own
        }
        all.addAll(List.of(flags));
        return CPrograms.compile("moments", all.toArray(String[]::new));
    }

    private static Path program() {
        return compiled();
    }

    private static Path library() {
        return compiled("-shared", "-fPIC");
    }

    private static LineProcess waiting() throws IOException {
        return new LineProcess(new ProcessBuilder(program().toString(), "wait")) {};
    }

    /** The pairs by the strategies that attach to functions. */
    static Stream<Arguments> pairs() {
        return Stream.of(Strategy.MULTI, Strategy.COOKIE)
                .flatMap(strategy ->
                        PAIRS.stream().map(pair -> Arguments.of(strategy, pair.getFirst(), pair.getLast())));
    }

    static Stream<Arguments> pairsWithFunctions() {
        return pairs().filter(arguments -> arguments.get()[1].toString().startsWith("u")
                || arguments.get()[2].toString().startsWith("u"));
    }

    private static Question asked(Question probes, Path file, Strategy strategy, String begin, String end)
            throws IOException {
        Question question = probes;
        for (String name : List.of(begin, end)) {
            String function = name.substring(name.indexOf(':') + 1);
            if (name.startsWith("u")) {
                question = question.alsoOn(FunctionProbe.matching(file, function, name.startsWith("ur:")).stream()
                        .toArray(FunctionProbe[]::new));
            }
        }
        return question.latency(begin, end).withFeatures(strategy.features());
    }

    private static String[] usdt(String... names) {
        return Stream.of(names).filter(name -> name.startsWith("shop:")).toArray(String[]::new);
    }

    private static UsdtScan matching(UsdtScan scan, String... names) {
        return scan.matching(Stream.of(names).map(ProbePattern::parse).toList());
    }

    private static void assertPairs(Answer answer, long calls) {
        assertThat(answer.rows()).extracting(Answer.Row::count).containsExactly(calls);
        assertThat(answer.gaps()).isEmpty();
        assertThat(answer.reasonsForGaps()).isEmpty();
        assertThat(answer.isExact()).isTrue();
    }

    @Test
    void theAddressesAreTheSame() throws IOException {
        for (Path file : List.of(program(), library())) {
            assertThat(offset(file, "shop:leaf"))
                    .isEqualTo(function(file, "leaf"))
                    .isEqualTo(function(file, "other"));
            assertThat(offset(file, "shop:first"))
                    .isEqualTo(offset(file, "shop:second"))
                    .isEqualTo(function(file, "twice"));
        }
    }

    private static long offset(Path file, String probe) throws IOException {
        UsdtProbe found = UsdtScan.ofFile(file).matching(probe).probes().getFirst();
        assertThat(found.sites()).hasSize(1);
        return found.sites().getFirst().fileOffset();
    }

    private static long function(Path file, String name) throws IOException {
        return FunctionProbe.matching(file, name, false).getFirst().fileOffset().orElseThrow();
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void inAllProcessesOfAFile(Strategy strategy, String begin, String end) throws IOException, InterruptedException {
        Question probes = Question.on(
                usdt(begin, end).length == 0
                        ? List.of()
                        : matching(UsdtScan.ofFile(program()), usdt(begin, end)).probes());
        try (Answer answer = asked(probes, program(), strategy, begin, end).open()) {
            Commands.check(List.of(program().toString(), Long.toString(CALLS)));
            assertPairs(answer, CALLS);
        }
    }

    /** Each pair is that of one call: both read the same number. */
    @ParameterizedTest
    @MethodSource("pairs")
    void inARunningProcess(Strategy strategy, String begin, String end) throws IOException {
        try (LineProcess process = waiting()) {
            Question probes = Question.on(Target.process(process.pid()), usdt(begin, end));
            boolean numbered = begin.endsWith(":leaf") && !begin.startsWith("ur") && end.endsWith(":leaf");
            Question question = asked(probes, program(), strategy, begin, end);
            try (Answer answer = (numbered ? question.by("begin.arg0 == arg0") : question).open()) {
                process.command("7");
                process.command("13");
                // The process is a child of this one and is not held, so the answer is not exact.
                assertThat(answer.rows()).extracting(Answer.Row::count).containsExactly(CALLS);
                assertThat(answer.gaps()).isEmpty();
                if (numbered) {
                    assertThat(answer.rows().getFirst().key().values()).containsExactly(true);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void inACommandAndItsChildren(Strategy strategy, String begin, String end) throws IOException {
        for (Target target : List.of(
                Target.command(program().toString(), Long.toString(CALLS)),
                Target.command("sh", "-c", program() + " 8 & " + program() + " 12; wait")
                        .withChildren())) {
            Question probes = Question.on(target.withOutputToError(), usdt(begin, end));
            try (Answer answer = asked(probes, program(), strategy, begin, end).open()) {
                answer.await();
                assertPairs(answer, CALLS);
            }
        }
    }

    /** The functions are known at the start, the probes appear when the library is loaded. */
    @ParameterizedTest
    @MethodSource("pairsWithFunctions")
    void inALibraryThatIsLoadedLater(Strategy strategy, String begin, String end) throws IOException {
        Target target = Target.command(program().toString(), "load", library().toString());
        Question probes = Question.on(target.withOutputToError(), usdt(begin, end));
        try (Answer answer = asked(probes, library(), strategy, begin, end).open()) {
            answer.await();
            assertPairs(answer, 10);
        }
    }

    /** Only the thread that loads the library is held: what others call while the function is attached again is missing. */
    @Test
    void inALibraryThatAProcessWithThreadsLoads() throws IOException {
        Target target = Target.command(program().toString(), "load", library().toString(), "thread");
        Question probes = Question.on(target.withOutputToError(), "shop:leaf");
        try (Answer answer =
                asked(probes, library(), Strategy.MULTI, "u:leaf", "shop:leaf").open()) {
            answer.await();
            assertThat(answer.rows()).extracting(Answer.Row::count).containsExactly(10L);
            assertThat(answer.gaps()).isEmpty();
            assertThat(answer.isExact()).isFalse();
            assertThat(answer.reasonsForGaps())
                    .extracting(Diagnostic::message)
                    .anyMatch(reason -> reason.startsWith("functions that begin the latency were attached again"));
        }
    }

    /** A process that comes later is late, and its pairs are right. */
    @ParameterizedTest
    @MethodSource("pairs")
    @Requires(CGROUP2)
    void inAProcessThatEntersAGroup(Strategy strategy, String begin, String end) throws Exception {
        try (ControlGroup group = ControlGroup.create("moments");
                LineProcess process = waiting()) {
            Question probes = Question.on(Target.controlGroup(group.path()), usdt(begin, end));
            boolean withProbes = usdt(begin, end).length > 0;
            try (Answer answer = asked(probes, program(), strategy, begin, end).open()) {
                group.add(process.pid());
                // The first calls may be missing; a reason says so once the probes are attached to.
                Await.until(
                        "the process is found",
                        () -> !withProbes
                                || answer.reasonsForGaps().stream()
                                        .anyMatch(reason -> reason.subject().equals("process " + process.pid())));
                process.command(Long.toString(CALLS));
                assertThat(answer.rows()).extracting(Answer.Row::count).containsExactly(CALLS);
                assertThat(answer.gaps()).isEmpty();
            }
        }
    }

    @Test
    void functionsAreAttachedAgainAfterAnEndThatComesLater() throws IOException {
        for (Strategy strategy : List.of(Strategy.MULTI, Strategy.COOKIE)) {
            try (LineProcess process = waiting()) {
                OptionalInt pid = OptionalInt.of(process.pid());
                UsdtScan probes = UsdtScan.ofFile(program()).matching("shop:leaf");
                FunctionProbe leaf = FunctionProbe.entry(program(), "leaf");
                try (Answer answer = Question.on(probes)
                        .alsoOn(leaf)
                        .latency("u:leaf", "shop:leaf")
                        .withFeatures(strategy.features())
                        .load()) {
                    answer.setCounting(false);
                    Link _ = answer.attachFunctions(List.of(leaf), pid, _ -> {});
                    UsdtLink _ = answer.attach(probes.probes(), pid);
                    process.command("3");
                    answer.setCounting(true);
                    process.command("20");
                    assertPairs(answer, CALLS);
                }
                try (Answer answer = Question.on(probes)
                        .alsoOn(leaf)
                        .latency("u:leaf", "shop:leaf")
                        .withFeatures(strategy.features())
                        .load()) {
                    Link _ = answer.attachFunctions(List.of(leaf), OptionalInt.empty(), _ -> {});
                    process.command("3");
                    UsdtLink _ = answer.attach(probes.probes(), OptionalInt.empty());
                    process.command("20");
                    assertThat(answer.rows()).extracting(Answer.Row::count).containsExactly(CALLS);
                    assertThat(answer.isExact())
                            .as("it was not attached for a while")
                            .isFalse();
                    assertThat(answer.reasonsForGaps())
                            .singleElement()
                            .satisfies(reason -> assertThat(reason.message())
                                    .startsWith("functions that begin the latency were attached again"));
                }
            }
        }
    }

    @Test
    void anEndAfterAProbeThatBeginsIsRefused() throws IOException, InterruptedException {
        UsdtScan scan = UsdtScan.ofFile(program());
        List<UsdtProbe> first = scan.matching("shop:first").probes();
        List<UsdtProbe> second = scan.matching("shop:second").probes();
        FunctionProbe twice = FunctionProbe.entry(program(), "twice");
        try (Answer answer = Question.on(matching(scan, "shop:first", "shop:second"))
                .latency("shop:first", "shop:second")
                .load()) {
            UsdtLink _ = answer.attach(first, OptionalInt.empty());
            assertThatThrownBy(() -> answer.attach(second, OptionalInt.empty()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the kernel would run the end first; attach to the end first");
        }
        try (Answer answer = Question.on(first)
                .alsoOn(twice)
                .latency("shop:first", "u:twice")
                .load()) {
            UsdtLink _ = answer.attach(first, OptionalInt.empty());
            assertThatThrownBy(() -> answer.attachFunctions(List.of(twice), OptionalInt.empty(), _ -> {}))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the kernel would run the end first; attach to the end first");
        }
        try (Answer answer = Question.on(first)
                .alsoOn(twice)
                .latency("shop:first", "u:twice")
                .load()) {
            Link _ = answer.attachFunctions(List.of(twice), OptionalInt.empty(), _ -> {});
            UsdtLink _ = answer.attach(first, OptionalInt.empty());
            Commands.check(List.of(program().toString(), Long.toString(CALLS)));
            assertPairs(answer, CALLS);
        }
    }

    /** Without cookies a program knows a USDT probe by its address alone; functions need cookies. */
    @Test
    void withoutCookiesTwoUsdtProbesAtOneAddressAreRefused() throws IOException {
        try (LineProcess process = waiting()) {
            Question both = Question.on(matching(UsdtScan.ofProcess(process.pid()), "shop:first", "shop:second"))
                    .latency("shop:first", "shop:second")
                    .withFeatures(Strategy.IP_MAP.features());
            assertThatThrownBy(both::open)
                    .isInstanceOf(UsdtException.class)
                    .hasMessageContaining("an address can have one spec only");
            for (List<String> pair : List.of(List.of("u:leaf", "shop:leaf"), List.of("shop:leaf", "u:leaf"))) {
                Question probes = Question.on(matching(UsdtScan.ofProcess(process.pid()), "shop:leaf"));
                try (Answer answer = asked(probes, program(), Strategy.IP_MAP, pair.getFirst(), pair.getLast())
                        .open()) {
                    process.command(Long.toString(CALLS));
                    assertPairs(answer, CALLS);
                }
            }
        }
    }

    private static void assertPairs(Commands.Result result) {
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out())
                .as(result.err())
                .contains("\"count\":" + CALLS)
                .contains("{\"type\":\"end\",\"events\":" + CALLS + ",\"lost\":0,\"exact\":true,")
                .doesNotContain("unpaired_ends", "still_open");
    }

    /** The order is the library's; that it is asked for in each form is the command's. */
    @ParameterizedTest
    @MethodSource("pairsWithFunctions")
    void byTheCommand(Strategy strategy, String begin, String end) throws IOException, InterruptedException {
        assertPairs(Cli.run(words(command(strategy, begin, end), "-c", program() + " " + CALLS)));
    }

    @Test
    void byTheCommandInEachForm() throws IOException, InterruptedException {
        String program = program().toString();
        for (Strategy strategy : List.of(Strategy.MULTI, Strategy.COOKIE)) {
            List<String> asked = command(strategy, "u:leaf", "shop:leaf");
            assertPairs(Cli.run(
                    words(asked, program, "-c", "sh -c '" + program + " 8 & " + program + " 12; wait'", "--follow")));
            try (LineProcess process = waiting()) {
                assertPairs(ended(process, words(asked, program)));
                assertPairs(ended(process, words(asked, "-p", Integer.toString(process.pid()))));
                assertPairs(ended(process, words(asked, "-p", Integer.toString(process.pid()), "--follow")));
            }
        }
    }

    private static List<String> command(Strategy strategy, String begin, String end) {
        return List.of("latency", "--json", "--strategy", strategy.option(), begin, end);
    }

    private static String[] words(List<String> asked, String... target) {
        return Stream.concat(asked.stream(), Stream.of(target)).toArray(String[]::new);
    }

    /** The answer about a process that calls while it is traced. */
    private static Commands.Result ended(LineProcess process, String[] words) throws IOException, InterruptedException {
        try (RunningTrace trace = new RunningTrace(words)) {
            trace.awaitMessage("tracing ");
            process.command(Long.toString(CALLS));
            trace.interrupt();
            return trace.await();
        }
    }
}
