package io.bpf4j.cli.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.cli.failure.CommandException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigFileTest {
    @TempDir
    private Path folder;

    private static List<ConfigLine> parse(String text) {
        List<Mistake> mistakes = new ArrayList<>();
        List<ConfigLine> lines = ConfigFile.parse(text, mistakes::add);
        assertThat(mistakes).isEmpty();
        return lines;
    }

    @Test
    void aLineHasANameAndTheWordsOfAShell() {
        List<ConfigLine> lines = parse("""
                # What the shop does.
                orders count -p 1 'shop:*' --by "str(arg0, 8)"

                  # Indented, and it \\
                waits latency\\ x
                """);
        assertThat(lines).extracting(ConfigLine::number).containsExactly(2, 5);
        assertThat(lines.getFirst().name()).isEqualTo("orders");
        assertThat(lines.getFirst().question()).containsExactly("count", "-p", "1", "shop:*", "--by", "str(arg0, 8)");
        assertThat(lines.getLast().words()).containsExactly("waits", "latency x");
    }

    @Test
    void aBackslashAtTheEndContinuesTheLine() {
        assertThat(parse("a count \\\n  x:y \\\n --by pid\nb count\\\\\nc \\"))
                .extracting(ConfigLine::words)
                .containsExactly(List.of("a", "count", "x:y", "--by", "pid"), List.of("b", "count\\"), List.of("c"));
    }

    @Test
    void eachLineThatIsNoWordsIsAMistake() {
        List<Mistake> mistakes = new ArrayList<>();
        assertThat(ConfigFile.parse("a 'b\nc d\ne \"f\n", mistakes::add)).hasSize(1);
        assertThat(mistakes).extracting(Mistake::line).containsExactly(1, 3);
        assertThat(mistakes.getFirst().text()).contains("never closed");
    }

    @Test
    void aLineThatHasMovedIsTheSame() {
        assertThat(parse("\na  b")).isEqualTo(parse("a 'b'")).isNotEqualTo(parse("a c"));
    }

    @Test
    void onlyAFileOfItsUserIsRead() throws IOException {
        Path file = Files.writeString(folder.resolve("agent.conf"), "a b");
        assertThat(ConfigFile.read(file, _ -> {})).hasSize(1);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-r--"));
        assertThatThrownBy(() -> ConfigFile.read(file, _ -> {}))
                .isInstanceOf(CommandException.class)
                .hasMessageContaining(file + ": another user can change this file")
                .hasMessageContaining("can be written by others");
    }

    @Test
    void whatIsNoTextOrTooLargeIsRefused() throws IOException {
        Path bytes = Files.write(folder.resolve("bytes"), new byte[] {'a', (byte) 0xff});
        assertThatThrownBy(() -> ConfigFile.read(bytes, _ -> {})).hasMessageContaining("is not text in UTF-8");
        Path large = Files.write(folder.resolve("large"), new byte[ConfigFile.MAX_BYTES + 1]);
        assertThatThrownBy(() -> ConfigFile.read(large, _ -> {})).hasMessageContaining("larger than");
        assertThatThrownBy(() -> ConfigFile.read(folder, _ -> {})).hasMessageContaining("is a directory");
        assertThatThrownBy(() -> ConfigFile.read(folder.resolve("none"), _ -> {}))
                .hasMessageContaining("no such file");
    }
}
