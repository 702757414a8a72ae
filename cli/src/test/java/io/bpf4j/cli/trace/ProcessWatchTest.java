package io.bpf4j.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessWatchTest {
    private static final String PROGRAM = "55d0c0000000-55d0c0001000 r-xp 00001000 fe:01 11    /usr/bin/program\n";
    private static final String LIBRARY = "7f00c0000000-7f00c0001000 r-xp 00001000 fe:01 12    /lib/with space.so\n";
    private static final String DATA = "7f00d0000000-7f00d0001000 r--p 00000000 fe:01 13    /lib/data.so\n";
    private static final String ANONYMOUS = "7f00e0000000-7f00e0001000 r-xp 00000000 00:00 0 \n";

    @TempDir
    Path directory;

    @Test
    void onlyNewCodeCounts() throws IOException {
        Path maps = directory.resolve("maps");
        ProcessWatch watch = new ProcessWatch(maps);
        assertThat(watch.changed()).as("no such process").isFalse();
        Files.writeString(maps, PROGRAM);
        assertThat(watch.changed()).isTrue();
        assertThat(watch.changed()).isFalse();
        Files.writeString(maps, PROGRAM + DATA + ANONYMOUS);
        assertThat(watch.changed()).as("data and anonymous memory").isFalse();
        Files.writeString(maps, PROGRAM + DATA + LIBRARY);
        assertThat(watch.changed()).isTrue();
        Files.writeString(maps, PROGRAM);
        assertThat(watch.changed()).as("unmapped").isFalse();
        Files.writeString(maps, PROGRAM + LIBRARY);
        assertThat(watch.changed()).as("mapped again").isTrue();
    }
}
