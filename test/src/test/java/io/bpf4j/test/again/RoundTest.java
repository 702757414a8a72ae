package io.bpf4j.test.again;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Java;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
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
                throw new TestAbortedException("CLANG: needs clang; GO: needs go (Debian: golang-go)");
            }
        }
    }

    @Test
    void aRoundTellsWhatPassedFailedAndWasSkipped() throws IOException, InterruptedException {
        RoundFiles files = new RoundFiles(folder, "sample");
        Path results = files.outcomes(0);
        String name = Sample.class.getName();
        run(files, 0, Instant.MAX, name);
        List<Outcome> outcomes =
                Files.readAllLines(results).stream().map(Outcome::parse).toList();
        assertThat(outcomes).hasSize(2);
        assertThat(outcomes.getFirst()).isEqualTo(Outcome.began(name));
        assertThat(outcomes.getLast().ended()).isTrue();
        assertThat(outcomes.getLast().tests()).isEqualTo(3);
        assertThat(outcomes.getLast().skipped()).containsExactly("CLANG GO");
        assertThat(outcomes.getLast().failed()).containsExactly("fails()");
        assertThat(files.failures().resolve(name + ".txt")).content().contains("as it should", "RoundTest");
        assertThat(files.ended()).containsExactly(outcomes.getLast());
    }

    @Test
    void aClassThatIsClaimedAndOneThatIsTooLateDoNotRun() throws IOException, InterruptedException {
        RoundFiles files = new RoundFiles(folder, "sample");
        String name = Sample.class.getName();
        run(files, 0, Instant.now().minusSeconds(1), name);
        assertThat(files.ended()).isEmpty();
        run(files, 0, Instant.MAX, name);
        run(files, 1, Instant.MAX, name);
        assertThat(files.ended()).hasSize(1);
        assertThat(files.outcomes(1)).doesNotExist();
    }

    @Test
    void aClassThatWasInterruptedRunsAgainAndIsNotRed() throws IOException, InterruptedException {
        RoundFiles files = new RoundFiles(folder, "sample");
        String name = Sample.class.getName();
        Files.writeString(files.outcomes(0), Outcome.began(name).line() + "\n");
        new Worker(0, files, folder, command(files, 0, Instant.MAX, name)).call();
        assertThat(files.ended())
                .singleElement()
                .satisfies(outcome -> assertThat(outcome.failed()).containsExactly("fails()"));
    }

    private static void run(RoundFiles files, int jvm, Instant end, String testClass)
            throws IOException, InterruptedException {
        Commands.check(command(files, jvm, end, testClass));
    }

    private static List<String> command(RoundFiles files, int jvm, Instant end, String testClass) throws IOException {
        Files.createDirectories(files.failures());
        Files.createDirectories(files.claims());
        List<String> command = new ArrayList<>(List.of(Java.path(), "-cp", System.getProperty("java.class.path")));
        command.addAll(Round.command(1, end, files, jvm));
        command.add(testClass);
        return command;
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
