package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.test.support.AskedProgram;
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
}
