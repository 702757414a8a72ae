package io.bpf4j.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StallTest {
    private static final Duration TWO = Duration.ofSeconds(2);

    @TempDir
    Path thread;

    private final Stall stall = new Stall();

    @BeforeEach
    void begin() throws IOException {
        slept(10);
    }

    /** How often the thread has gone to sleep. */
    private void slept(int times) throws IOException {
        Files.writeString(
                thread.resolve("status"),
                "Name:\tmain\nvoluntary_ctxt_switches:\t" + times + "\nnonvoluntary_ctxt_switches:\t3\n");
    }

    private boolean lasts(Stall.Write write, int seconds) {
        return stall.lastsFor(TWO, write, Duration.ofSeconds(seconds).toNanos());
    }

    @Test
    void aWriteWithoutProgressIsOne() {
        Stall.Write write = new Stall.Write(thread);
        assertThat(lasts(write, 100)).isFalse();
        assertThat(lasts(write, 101)).isFalse();
        assertThat(lasts(write, 102)).isTrue();
    }

    @Test
    void aReaderWhoTakesPartOfABlockReads() throws IOException {
        Stall.Write write = new Stall.Write(thread);
        for (int second = 0; second < 10; second++) {
            slept(10 + second);
            assertThat(lasts(write, second)).isFalse();
        }
        assertThat(lasts(write, 10)).isFalse();
        assertThat(lasts(write, 11)).isTrue();
    }

    @Test
    void aWriteThatEndsIsNone() {
        assertThat(lasts(new Stall.Write(thread), 0)).isFalse();
        assertThat(lasts(new Stall.Write(thread), 5)).as("the next").isFalse();
        assertThat(stall.lastsFor(TWO, null, Duration.ofSeconds(20).toNanos())).isFalse();
        assertThat(stall.lastsFor(TWO, null, Duration.ofSeconds(30).toNanos())).isFalse();
    }

    /** Then only the end of the write shows that there is a reader. */
    @Test
    void aThreadThatCannotBeReadHasNoProgress() {
        Stall.Write write = new Stall.Write(thread.resolve("none"));
        assertThat(lasts(write, 0)).isFalse();
        assertThat(lasts(write, 2)).isTrue();
    }
}
