package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.test.support.AskedProgram;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Question;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Questions by the library; those by the command are in CliQuestionsTest. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H})
@ExtendWith(LeakCheck.class)
@Timeout(120)
class QuestionsOnKernelTest {
    /** As on kernels before 5.12, whose verifier refuses a program that has the instruction anywhere. */
    @Test
    void extremesAreFoundWithoutAtomicExchange(@TempDir Path folder) throws IOException, InterruptedException {
        Path program = AskedProgram.compile(folder);
        try (Answer answer = Question.on(UsdtScan.ofFile(program).matching("asked:value"))
                .histogram("arg3")
                .withFeatures(Features.ofRunningKernel().without(Feature.ATOMIC_EXCHANGE))
                .open()) {
            Commands.check(List.of(program.toString(), "values", "100"));
            assertThat(answer.rows())
                    .singleElement()
                    .extracting(Answer.Row::distribution)
                    .extracting(Distribution::count, Distribution::min, Distribution::max)
                    .containsExactly(100L, -50L, 49L);
        }
    }

    @Test
    void aFloatingPointArgumentIsAKeyAndNothingElse() throws IOException, InterruptedException {
        Path program = CPrograms.compile("floats", "-O2");
        UsdtScan floats = UsdtScan.ofFile(program).matching("asked:floats");
        try (Answer answer = Question.on(floats).where("arg2 != 3").by("arg0", "arg1").open()) {
            Commands.check(List.of(program.toString()));
            assertThat(answer.rows().stream().map(Answer.Row::key))
                    .containsExactlyInAnyOrderElementsOf(IntStream.range(0, 9)
                            .filter(i -> i != 3)
                            .mapToObj(i -> Map.<String, Object>of(
                                    "arg0", 1.5 * i, "arg1", Double.valueOf(Float.toString(0.1f * i))))
                            .toList());
        }
        assertThatThrownBy(() -> Question.on(floats).where("arg0 > 3").load())
                .hasMessageStartingWith("arg0 is a floating-point number; ");
        assertThatThrownBy(() -> Question.on(floats).histogram("arg1").load())
                .hasMessageStartingWith("arg1 is a floating-point number; ");
    }
}
