package io.bpf4j.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(600) // for what hangs
class FunctionSelectionTest {
    @TempDir
    private Path folder;

    @Test
    void aScriptHasAnInterpreter() throws IOException {
        assertThat(FunctionSelection.isScript(Files.writeString(folder.resolve("script"), "#!/bin/sh\n")))
                .isTrue();
        assertThat(FunctionSelection.isScript(Files.writeString(folder.resolve("text"), "text\n")))
                .isFalse();
        assertThat(FunctionSelection.isScript(Files.writeString(folder.resolve("short"), "#")))
                .isFalse();
    }

    /** Whoever owns the file may put a FIFO in its place, and never write to it. */
    @Test
    void aPipeIsNotWaitedFor() throws IOException, InterruptedException {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        assertThatThrownBy(() -> FunctionSelection.isScript(pipe)).isInstanceOf(IOException.class);
    }
}
