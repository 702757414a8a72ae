package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Gap;
import io.bpf4j.trace.Question;
import io.bpf4j.trace.expression.ExpressionException;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Latencies whose expressions have values of the begin. The program writes what the values were. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H})
@ExtendWith(LeakCheck.class)
@Timeout(600) // for what hangs
class BeginsOnKernelTest {
    private static Path program() {
        return CPrograms.compile("reused", "-O1", "-fno-optimize-sibling-calls", "-pthread");
    }

    private static Question calls() {
        FunctionProbe[] both = {FunctionProbe.entry(program(), "work"), FunctionProbe.exit(program(), "work")};
        return Question.on(List.of()).alsoOn(both).latency("u:work", "ur:work");
    }

    private static Question pairs() throws IOException {
        return Question.on(UsdtScan.ofFile(program()).matching("reused:*")).latency("reused:begin", "reused:end");
    }

    /** The lines that the program wrote, each with how often. */
    private static Map<String, Long> run(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(program().toString()));
        command.addAll(List.of(arguments));
        return Commands.check(command).lines().collect(Collectors.groupingBy(line -> line, Collectors.counting()));
    }

    private static Map<String, Long> counts(Answer answer) {
        return answer.rows().stream()
                .collect(Collectors.toMap(
                        row -> row.key().values().stream().map(String::valueOf).collect(Collectors.joining(" ")),
                        Answer.Row::count));
    }

    @Test
    void nestedCallsHaveTheTextOfTheirOwnBegin() throws IOException, InterruptedException {
        try (Answer answer = calls().by("str(begin.arg0)", "(int) begin.arg1", "(long) retval")
                .open()) {
            Map<String, Long> truth = run("nested", "50", "9");
            assertThat(truth).hasSize(10);
            assertThat(counts(answer)).isEqualTo(truth);
            assertThat(answer.gaps()).isEmpty();
        }
    }

    @Test
    void pairsOfOtherThreadsHaveTheTextOfTheirBegin() throws IOException, InterruptedException {
        try (Answer answer = pairs().pairedBy("probe == \"reused:begin\" ? arg1 : arg0")
                .by("str(begin.arg0)", "begin.arg1", "arg0")
                .open()) {
            Map<String, Long> truth = run("crossed", "500");
            assertThat(truth).hasSize(500);
            assertThat(counts(answer)).isEqualTo(truth);
        }
    }

    @Test
    void aFilterAndShownValuesHaveValuesOfTheBegin() throws IOException, InterruptedException {
        List<Map<String, Object>> shown = new ArrayList<>();
        try (Answer answer = calls().where("str(begin.arg0) ~ \"call-[3-5]\" && retval > 3")
                .slowerThan(Duration.ZERO)
                .show("begin.comm", "str(begin.arg0, 5)", "str(begin.arg0, begin.arg1)", "begin.probe", "probe")
                .open()) {
            Map<String, Long> truth = run("nested", "1", "9");
            assertThat(truth).containsKeys("call-3 3 -3", "call-4 4 4", "call-5 5 -5");
            answer.drain(event -> shown.add(event.values()));
            assertThat(answer.rows())
                    .singleElement()
                    .extracting(Answer.Row::count)
                    .isEqualTo(3L);
        }
        assertThat(shown)
                .extracting(values -> List.copyOf(values.values()))
                .containsExactlyInAnyOrder(
                        List.of("reused", "call-", "cal", "u:work", "ur:work"),
                        List.of("reused", "call-", "call", "u:work", "ur:work"),
                        List.of("reused", "call-", "call-", "u:work", "ur:work"));
    }

    /** The address of the begin is known at the end, too, and so is what the call has left there. */
    @Test
    void memoryIsReadAtTheEndIfTheEndHasAPart() throws IOException, InterruptedException {
        try (Answer answer = calls().where("retval == 6")
                .by("str(begin.arg0, retval)", "*(u8*)(begin.arg0 + retval - retval)", "*(u8*)begin.arg0")
                .open()) {
            run("nested", "1", "6");
            assertThat(counts(answer)).isEqualTo(Map.of("###### 35 99", 1L));
        }
    }

    @Test
    void whatIsOnlyShownHasMoreRoomThanAKey() throws IOException, InterruptedException {
        List<Map<String, Object>> shown = new ArrayList<>();
        String[] all =
                IntStream.rangeClosed(1, 30).mapToObj(n -> "begin.arg1 + " + n).toArray(String[]::new);
        try (Answer answer = calls().where("str(begin.arg0) == \"call-3\"")
                .slowerThan(Duration.ZERO)
                .show(all)
                .open()) {
            run("nested", "1", "5");
            answer.drain(event -> shown.add(event.values()));
        }
        assertThat(shown).singleElement().satisfies(values -> {
            assertThat(values).containsEntry("begin.arg1 + 1", 4L);
            assertThat(values).containsEntry("begin.arg1 + 30", 33L);
        });
        shown.clear();
        try (Answer answer = calls().where("retval == 4")
                .slowerThan(Duration.ZERO)
                .show("str(begin.arg0, 800)", "str(begin.arg0)")
                .open()) {
            run("nested", "1", "5");
            answer.drain(event -> shown.add(event.values()));
        }
        assertThat(shown).containsExactly(Map.of("str(begin.arg0, 800)", "call-4", "str(begin.arg0)", "call-4"));
        assertThatThrownBy(() -> calls().where("begin.arg0 > 0")
                        .show(all)
                        .by("begin.pid")
                        .open())
                .hasMessageContaining("a latency can use at most 31 values of its begin");
    }

    /** Address 8 can't be read: what does not need that value has it all the same. */
    @Test
    void whatCanNotBeReadAtTheBeginIsMissingWhereItIsUsed() throws IOException, InterruptedException {
        try (Answer answer = calls().by("(long) retval > 4 ? *(u8*)(begin.arg1 > 7 ? begin.arg0 : 8) : 0")
                .open()) {
            run("nested", "1", "9");
            // 8 is read, 6 is not; the others return less.
            assertThat(counts(answer)).isEqualTo(Map.of("99", 1L, "0", 8L));
            assertThat(answer.gaps()).containsEntry(Gap.UNREADABLE, 1L);
        }
    }

    @Test
    void aNameOfTheBeginNeedsItsPrefix() throws IOException {
        assertThatThrownBy(() -> calls().by("arg0").open())
                .isInstanceOf(ExpressionException.class)
                .hasMessageContaining("no 'arg0' at the end of a latency")
                .hasMessageContaining("write begin.arg0");
        assertThatThrownBy(() -> calls().by("begin.argg").open())
                .hasMessageContaining(
                        "no name 'begin.argg'; the nearest is 'begin.arg0'; the arguments are begin.arg0");
        assertThatThrownBy(() -> calls().by("begin.retval").open())
                .hasMessageContaining("'begin.retval' is the result of a function");
        assertThatThrownBy(() -> pairs().pairedBy("begin.arg1").open())
                .hasMessageContaining("only the filter, the keys and the shown values of a latency");
        assertThatThrownBy(() -> Question.on(UsdtScan.ofFile(program()).probes())
                        .by("begin.arg0")
                        .open())
                .hasMessageContaining("only the filter, the keys and the shown values of a latency");
        assertThatThrownBy(() -> calls().by("str(begin.arg0)", "str(begin.arg1)", "str(begin.arg2)")
                        .open())
                .hasMessageContaining("needs 64 bytes, but only 32 of 160 are left");
        assertThatThrownBy(() -> calls().where("str(begin.arg0, retval) == str(begin.arg0)")
                        .open())
                .hasMessageContaining("a text of the begin can be compared only with");
    }
}
