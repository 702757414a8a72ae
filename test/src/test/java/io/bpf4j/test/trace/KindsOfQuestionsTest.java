package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.bpf4j.sys.Diagnostic;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Gap;
import io.bpf4j.trace.NamedStacks;
import io.bpf4j.trace.Question;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Each kind of question about a file, by the library: no process is held, as for the command's {@code -c}. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H})
@ExtendWith(LeakCheck.class)
@Timeout(600) // for what hangs
class KindsOfQuestionsTest {
    private static Path program;

    @BeforeAll
    static void compile() {
        program = CPrograms.asked();
    }

    private static Question on(String pattern) throws IOException {
        return Question.on(UsdtScan.ofFile(program).matching(pattern));
    }

    private static void run(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        Commands.check(command);
    }

    @Test
    void eventsAreCountedByKeysOfAllKinds() throws IOException, InterruptedException {
        try (Answer answer = on("asked:value")
                .where("str(arg1) ~ \"*e*\" && arg3 >= 0")
                .by("str(arg1)", "arg0 % 2", "probe")
                .open()) {
            run("values", "600");
            assertThat(answer.rows())
                    .extracting(Answer.Row::key, Answer.Row::count)
                    .containsExactlyInAnyOrder(
                            tuple(key("red", 0), 50L),
                            tuple(key("red", 1), 50L),
                            tuple(key("green", 0), 50L),
                            tuple(key("green", 1), 50L),
                            tuple(key("blue", 0), 50L),
                            tuple(key("blue", 1), 50L));
        }
    }

    private static Map<String, Object> key(String colour, long odd) {
        return Map.of("str(arg1)", colour, "arg0 % 2", odd, "probe", "asked:value");
    }

    @Test
    void valuesAreDistributed() throws IOException, InterruptedException {
        try (Answer answer = on("asked:value").histogram("arg2").open()) {
            run("values", "400");
            Distribution sizes = distribution(answer);
            assertThat(sizes.rows())
                    .hasSize(40)
                    .allSatisfy(bucket -> assertThat(bucket.count()).isEqualTo(10));
            assertThat(sizes.max()).isEqualTo(1L << 39);
        }
    }

    @Test
    void timesArePairedByAValue() throws IOException, InterruptedException {
        try (Answer answer =
                on("asked:*").latency("begin", "end").pairedBy("arg0").open()) {
            run("crossed", "50");
            assertThat(distribution(answer).count()).isEqualTo(50);
            assertThat(answer.gaps()).doesNotContainKey(Gap.UNPAIRED_ENDS);
        }
    }

    @Test
    void eventsAreShownWithTheirValues() throws IOException, InterruptedException {
        List<Answer.Event> events = new ArrayList<>();
        try (Answer answer = on("asked:value").show("arg0", "str(arg1)", "arg3").open()) {
            run("values", "3");
            while (events.size() < 3) {
                answer.poll(Duration.ofSeconds(1), events::add);
            }
        }
        assertThat(events)
                .extracting(Answer.Event::values)
                .containsExactly(
                        Map.of("arg0", 0L, "str(arg1)", "red", "arg3", -1L),
                        Map.of("arg0", 1L, "str(arg1)", "green", "arg3", 0L),
                        Map.of("arg0", 2L, "str(arg1)", "blue", "arg3", 1L));
    }

    @Test
    void functionsAreAskedWithTheirStacks() throws IOException, InterruptedException {
        FunctionProbe middle = FunctionProbe.matching(program, "middle", false).getFirst();
        try (Answer answer = Question.on(List.of())
                        .alsoOn(middle)
                        .where("arg0 < 5")
                        .by("arg0")
                        .byUserStack()
                        .open();
                NamedStacks stacks = NamedStacks.create(Duration.ZERO)) {
            run("tree", "8");
            assertThat(answer.rows()).hasSize(5).allSatisfy(row -> {
                assertThat(row.count()).isEqualTo(1);
                assertThat(row.userStack().orElseThrow()).isNotEmpty();
            });
            // The process has ended: where its files were mapped follows from the address of the probe.
            stacks.probes(List.of(), List.of(middle));
            stacks.read(answer.rows());
            List<NamedStacks.Stack> named = new ArrayList<>();
            stacks.forEach(named::add);
            assertThat(named).hasSize(5).allSatisfy(stack -> {
                assertThat(stack.count()).isEqualTo(1);
                assertThat(stack.frames().getFirst().function()).isEqualTo("middle");
            });
            StringBuilder folded = new StringBuilder();
            stacks.counts().folded(folded);
            assertThat(folded.toString().lines()).allMatch(line -> line.matches(".*middle \\d+"));
        }
    }

    @Test
    @Requires({SDT_H, X86_64})
    void theStacksOfAProbeWithoutAFrameAreSaidToLackTheCaller(@TempDir Path folder)
            throws IOException, InterruptedException {
        Path leaf = CPrograms.compile("frameless", "-O2", "-fno-omit-frame-pointer", "-momit-leaf-frame-pointer");
        List<UsdtProbe> probes = UsdtScan.ofFile(leaf).matching("app:leaf").probes();
        try (Answer answer = Question.on(probes).byUserStack().open();
                NamedStacks stacks = NamedStacks.create(Duration.ZERO)) {
            stacks.attached(probes);
            assertThat(stacks.gaps()).as("before there are stacks").isEmpty();
            Commands.check(List.of(leaf.toString()));
            stacks.probes(probes, List.of());
            stacks.read(answer.rows());
            assertThat(stacks.gaps()).singleElement().satisfies(gap -> {
                assertThat(gap.kind()).isEqualTo(Diagnostic.Kind.LEFT_OUT);
                assertThat(gap.subject()).isEqualTo("app:leaf");
                assertThat(gap.message()).contains("lack the direct caller");
            });
        }
    }

    private static Distribution distribution(Answer answer) {
        return answer.rows().getFirst().distribution().orElseThrow();
    }
}
