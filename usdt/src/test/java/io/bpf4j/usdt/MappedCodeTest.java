package io.bpf4j.usdt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.process.MappedFile;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process in a folder in the place of {@code /proc}, whose mappings change after the first reading. */
class MappedCodeTest {
    private static final int PID = 7;

    @TempDir
    Path proc;

    private void maps(String lines) throws IOException {
        Files.writeString(Files.createDirectories(proc.resolve("7")).resolve("maps"), lines);
    }

    private MappedCode code() {
        return new MappedCode(Host.running().withProc(proc), PID);
    }

    @Test
    void mappingsAreReadOnceAndWhenTheyAreNeeded() throws IOException {
        maps("");
        MappedCode code = code();
        maps("""
                1000-2000 r-xp 00000000 08:01 5 /x
                2000-3000 r--p 00001000 08:01 5 /x
                3000-4000 r-xp 00000000 00:00 0\s
                4000-5000 r-xp 00002000 08:01 6 /y
                6000-7000 r-xp 00008000 08:01 5 /x
                """);
        assertThat(code.ranges())
                .extracting(mapping -> mapping.name().toString())
                .containsExactly("/x", "/y", "/x");
        maps("");
        assertThat(code.ranges()).hasSize(3);
        assertThat(code.files()).extracting(MappedFile::name).containsExactly("/x", "/y");
        assertThat(code().ranges()).as("of the next attachment").isEmpty();
    }

    @Test
    void aFailureIsKeptToo() throws IOException {
        MappedCode code = code();
        assertThatThrownBy(code::ranges).isInstanceOf(IOException.class).hasMessage("no process 7");
        maps("1000-2000 r-xp 00000000 08:01 5 /x\n");
        assertThatThrownBy(code::ranges).isInstanceOf(IOException.class).hasMessage("no process 7");
    }
}
