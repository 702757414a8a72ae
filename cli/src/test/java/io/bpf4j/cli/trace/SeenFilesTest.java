package io.bpf4j.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SeenFilesTest {
    @TempDir
    Path directory;

    @Test
    void aFileIsItselfUnderAnyName() throws IOException {
        Path file = Files.createFile(directory.resolve("lib.so"));
        Path link = Files.createSymbolicLink(directory.resolve("lib.so.1"), file);
        Path hard = Files.createLink(directory.resolve("hard.so"), file);
        Path other = Files.createFile(directory.resolve("other.so"));
        SeenFiles seen = new SeenFiles();
        assertThat(seen.add(file)).isTrue();
        assertThat(seen.add(link)).isFalse();
        assertThat(seen.add(hard)).isFalse();
        assertThat(seen.add(Path.of("/proc/self/root" + file))).isFalse();
        assertThat(seen.add(other)).isTrue();
        assertThat(seen.add(directory.resolve("gone"))).isTrue();
        assertThat(seen.add(directory.resolve("gone"))).isFalse();
    }
}
