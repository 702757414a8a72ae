package io.bpf4j.test.again;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Commands;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

class RoundTest {
    @TempDir
    Path folder;

    /** Not run by Maven, which takes no nested classes. */
    static final class Sample {
        @Test
        void passes() {}

        @Test
        void fails() {
            assertThat(Path.of("as it should")).exists();
        }

        @Test
        void isSkipped() {
            if (!Path.of("as it should").isAbsolute()) {
                throw new TestAbortedException();
            }
        }
    }

    @Test
    void aRoundTellsWhatPassedFailedAndWasSkipped() throws IOException, InterruptedException {
        Path results = folder.resolve("results");
        String name = Sample.class.getName();
        Commands.check(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Round.class.getName(),
                "1",
                results.toString(),
                folder.toString(),
                name));
        List<Outcome> outcomes =
                Files.readAllLines(results).stream().map(Outcome::parse).toList();
        assertThat(outcomes).hasSize(2);
        assertThat(outcomes.getFirst()).isEqualTo(Outcome.began(name));
        assertThat(outcomes.getLast().ended()).isTrue();
        assertThat(outcomes.getLast().tests()).isEqualTo(3);
        assertThat(outcomes.getLast().skipped()).isOne();
        assertThat(outcomes.getLast().failed()).containsExactly("fails()");
        assertThat(folder.resolve(name + ".txt")).content().contains("as it should", "RoundTest");
        assertThat(Again.outcomes(results)).containsExactly(outcomes.getLast());
    }

    @Test
    void ofThirtyRoundsTenAreBesideHogs() {
        long hogs = 0;
        for (int round = 0; round < 30; round++) {
            hogs += Condition.ofRound(round) == Condition.HOGS ? 1 : 0;
        }
        assertThat(hogs).isEqualTo(10);
        for (Condition condition : Condition.values()) {
            assertThat(Condition.named(condition.option())).isEqualTo(condition);
        }
    }
}
