package io.bpf4j.maven;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BpfMojoTest {
    @TempDir
    Path folder;

    @TempDir
    Path outside;

    @Test
    void sourcesMayBeLinksButNotToNothing() throws Exception {
        Path source = Files.createFile(folder.resolve("b.bpf.c"));
        Path target = Files.createFile(outside.resolve("shared.c"));
        Path link = Files.createSymbolicLink(folder.resolve("a.bpf.c"), target);
        Files.createDirectory(folder.resolve("c.bpf.c"));
        Files.createFile(folder.resolve("d.h"));
        assertThat(BpfMojo.files(folder, ".bpf.c")).containsExactly(link, source);
        Files.delete(target);
        assertThatThrownBy(() -> BpfMojo.files(folder, ".bpf.c"))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessageContaining("a.bpf.c")
                .hasMessageContaining("is dangling");
        assertThat(BpfMojo.files(folder.resolve("none"), ".bpf.c")).isEmpty();
    }
}
