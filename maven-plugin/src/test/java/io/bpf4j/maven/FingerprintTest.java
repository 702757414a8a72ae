package io.bpf4j.maven;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FingerprintTest {
    @TempDir
    Path folder;

    @Test
    void contentDecides() throws Exception {
        Path source = Files.writeString(folder.resolve("a file.c"), "one");
        Path print = folder.resolve("print");
        assertThat(Fingerprint.isCurrent(print, "clang -g")).isFalse();
        Fingerprint.write(print, "clang -g", List.of(source));
        assertThat(Fingerprint.isCurrent(print, "clang -g")).isTrue();
        assertThat(Fingerprint.isCurrent(print, "clang")).isFalse();
        Files.writeString(source, "two");
        assertThat(Fingerprint.isCurrent(print, "clang -g")).isFalse();
        Files.writeString(source, "one");
        assertThat(Fingerprint.isCurrent(print, "clang -g")).isTrue();
        Files.delete(source);
        assertThat(Fingerprint.isCurrent(print, "clang -g")).isFalse();
    }

    @Test
    void aLineWithoutAFileIsNotCurrent() throws Exception {
        Path print = folder.resolve("print");
        Fingerprint.write(print, "clang", List.of());
        assertThat(Fingerprint.isCurrent(print, "clang")).isTrue();
        Files.writeString(print, Files.readString(print) + "x\n");
        assertThat(Fingerprint.isCurrent(print, "clang")).isFalse();
        Files.writeString(print, "");
        assertThat(Fingerprint.isCurrent(print, "clang")).isFalse();
    }

    /** Of a full disk, or of somebody else: the build goes on, and makes the output again. */
    @Test
    void whatIsNoTextOrNoPathIsNotCurrent() throws Exception {
        Path print = folder.resolve("print");
        Fingerprint.write(print, "clang", List.of());
        byte[] whole = Files.readAllBytes(print);
        for (byte[] rest :
                new byte[][] {{(byte) 0xff, ' ', 'x', '\n'}, "hash a\0b\n".getBytes(StandardCharsets.UTF_8)}) {
            Files.write(print, whole);
            Files.write(print, rest, StandardOpenOption.APPEND);
            assertThat(Fingerprint.isCurrent(print, "clang")).isFalse();
        }
    }

    /** A part of a name with a newline is not taken for another file. */
    @Test
    void aNameWithANewlineIsNotCurrent() throws Exception {
        Path header = Files.writeString(folder.resolve("a\nb.h"), "one");
        Path print = folder.resolve("print");
        Fingerprint.write(print, "clang", List.of(header));
        assertThat(Fingerprint.isCurrent(print, "clang")).isFalse();
    }
}
