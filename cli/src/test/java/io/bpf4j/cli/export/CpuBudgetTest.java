package io.bpf4j.cli.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.trace.RunningProgram.Usage;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class CpuBudgetTest {
    private final AtomicLong now = new AtomicLong();
    private final AtomicBoolean measured = new AtomicBoolean(true);
    private final Map<String, Exported> questions = new LinkedHashMap<>();

    private static final class Fake extends FakeQuestion {
        private Duration runTime = Duration.ofHours(1);

        @Override
        public Optional<Usage> usage() {
            return Optional.of(new Usage(1, 1, OptionalInt.empty(), runTime, 1));
        }
    }

    private Fake question(String name) {
        Fake question = new Fake();
        questions.put(name, question);
        return question;
    }

    private CpuBudget budget(double percent) {
        return new CpuBudget(percent, () -> questions, measured::get, now::get);
    }

    /** Five seconds later; each question has taken so many milliseconds meanwhile. */
    private void look(CpuBudget budget, Map<Fake, Integer> took) {
        took.forEach((question, millis) -> question.runTime = question.runTime.plusMillis(millis));
        now.addAndGet(CpuBudget.INTERVAL.toNanos());
        budget.look();
    }

    @Test
    void theCostliestIsSuspendedAndNoMoreThanNecessary() {
        Fake cheap = question("cheap");
        Fake dear = question("dear");
        Fake dearest = question("dearest");
        CpuBudget budget = budget(10);
        look(budget, Map.of());
        look(budget, Map.of(cheap, 50, dear, 200, dearest, 240));
        assertThat(questions.values()).as("9.8 %%").noneMatch(Exported::isSuspended);
        look(budget, Map.of(cheap, 50, dear, 200, dearest, 300));
        assertThat(dearest.problem())
                .hasValue("suspended: its BPF programs took 6.00 % of a processor, those of all questions 11.0 %, and"
                        + " --max-cpu is 10.0; it resumes at SIGHUP, or after 10 minutes");
        assertThat(List.of(cheap, dear)).noneMatch(Exported::isSuspended);
        look(budget, Map.of(cheap, 50, dear, 5_000));
        assertThat(dear.isSuspended()).isTrue();
        assertThat(cheap.isSuspended()).isFalse();
    }

    /** What it took before may have been in any time. */
    @Test
    void aNewQuestionIsJudgedByWhatItTakesFromNowOn() {
        CpuBudget budget = budget(1);
        Fake late = question("late");
        look(budget, Map.of(late, 60_000));
        assertThat(late.isSuspended()).isFalse();
        look(budget, Map.of(late, 60_000));
        assertThat(late.isSuspended()).isTrue();
    }

    @Test
    void aSuspendedQuestionGoesOnAfterAWhile() {
        CpuBudget budget = budget(1);
        Fake dear = question("dear");
        look(budget, Map.of());
        look(budget, Map.of(dear, 100));
        assertThat(dear.isSuspended()).isTrue();
        look(budget, Map.of());
        now.addAndGet(CpuBudget.REST.minusSeconds(6).toNanos());
        budget.look();
        assertThat(dear.isSuspended()).isTrue();
        look(budget, Map.of());
        look(budget, Map.of());
        assertThat(dear.isSuspended()).isFalse();
        look(budget, Map.of(dear, 10));
        look(budget, Map.of(dear, 10));
        assertThat(dear.isSuspended()).isFalse();
        look(budget, Map.of(dear, 100));
        assertThat(dear.isSuspended()).isTrue();
    }

    @Test
    void whatIsNotMeasuredSuspendsNothing() {
        CpuBudget budget = budget(1);
        Fake dear = question("dear");
        look(budget, Map.of());
        measured.set(false);
        look(budget, Map.of(dear, 5_000));
        measured.set(true);
        look(budget, Map.of(dear, 5_000));
        assertThat(dear.isSuspended()).as("nobody knows when").isFalse();
        look(budget, Map.of(dear, 5_000));
        assertThat(dear.isSuspended()).isTrue();
    }

    @Test
    void aQuestionWhoseTimeIsNotKnownKeepsNoOtherFromBeingSuspended() {
        questions.put("broken", new FakeQuestion() {
            @Override
            public Optional<Usage> usage() {
                throw new IllegalArgumentException("broken");
            }
        });
        Fake dear = question("dear");
        CpuBudget budget = budget(10);
        assertThatThrownBy(() -> look(budget, Map.of())).hasMessage("broken");
        assertThatThrownBy(() -> look(budget, Map.of(dear, 3_000))).hasMessage("broken");
        assertThat(dear.isSuspended()).isTrue();
    }
}
