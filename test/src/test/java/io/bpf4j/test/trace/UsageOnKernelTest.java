package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.RunStatistics;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TargetProgram;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Question;
import io.bpf4j.trace.RunningProgram.Usage;
import io.bpf4j.trace.Target;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What a running question is attached to, and what the kernel says that its programs have cost. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H})
@ExtendWith(LeakCheck.class)
@Timeout(600) // for what hangs
class UsageOnKernelTest {
    @TempDir
    private static Path folder;

    private static Path asked;

    @BeforeAll
    static void compile() throws IOException {
        // A file of this test alone: a probe fires for all processes that run it.
        asked = Files.copy(CPrograms.asked(), folder.resolve("asked"));
        assertThat(asked.toFile().setExecutable(true)).isTrue();
    }

    @Test
    void theRunsAreTheEventsOfTheProgram() throws IOException, InterruptedException {
        UsdtScan probes = UsdtScan.ofFile(asked).matching("asked:*");
        int sites =
                probes.probes().stream().mapToInt(probe -> probe.sites().size()).sum();
        Answer closed;
        try (Answer answer = Question.on(probes).by("probe").open()) {
            Usage before = answer.usage();
            assertThat(before.probes()).isEqualTo(probes.probes().size());
            assertThat(before.sites()).isEqualTo(sites);
            assertThat(before.processes()).isEqualTo(OptionalInt.empty());
            try (RunStatistics on = RunStatistics.enable()) {
                assertThat(on).isNotNull();
                Commands.check(List.of(asked.toString(), "values", "300"));
            }
            Usage after = answer.usage();
            long events = answer.rows().stream().mapToLong(Answer.Row::count).sum();
            assertThat(after.runs() - before.runs()).isEqualTo(events);
            assertThat(after.runTime()).isGreaterThan(before.runTime());
            answer.detach().forEach(closing -> closing.toCompletableFuture().join());
            assertThat(answer.usage()).isEqualTo(new Usage(0, 0, OptionalInt.empty(), after.runTime(), after.runs()));
            closed = answer;
        }
        assertThatThrownBy(closed::usage).isInstanceOf(IllegalStateException.class);
    }

    /** Each way of attaching has a program of its own in the kernel. */
    @Test
    void theProgramThatRunsIsTheOneThatIsMeasured() throws IOException, InterruptedException {
        // A map of addresses needs a process, and has the same program as cookies.
        for (Strategy strategy : List.of(Strategy.MULTI, Strategy.COOKIE)) {
            if (!strategy.isSupported()) {
                continue;
            }
            try (Answer answer = Question.on(UsdtScan.ofFile(asked).matching("asked:value"))
                            .withFeatures(strategy.features())
                            .open();
                    RunStatistics on = RunStatistics.enable()) {
                assertThat(on).isNotNull();
                Commands.check(List.of(asked.toString(), "values", "30"));
                assertThat(answer.usage().runs()).as("%s", strategy).isEqualTo(30);
            }
        }
    }

    @Test
    void aProcessIsOne() throws IOException {
        try (TargetProgram target = TargetProgram.start("-O2")) {
            int pid = Math.toIntExact(target.pid());
            try (Answer scanned = Question.on(UsdtScan.ofProcess(pid).matching("target:sizes"))
                            .open();
                    Answer followed =
                            Question.on(Target.process(pid), "target:sizes").open()) {
                assertThat(scanned.usage().processes()).hasValue(1);
                assertThat(followed.usage().processes()).hasValue(1);
                assertThat(followed.usage().probes()).isEqualTo(1);
                assertThat(followed.usage().sites()).isPositive();
            }
        }
    }
}
