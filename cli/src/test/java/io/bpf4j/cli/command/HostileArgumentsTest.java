package io.bpf4j.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a person or a script may hand to the command that is not a file, or not what it seems. */
class HostileArgumentsTest {
    @ParameterizedTest
    @ValueSource(strings = {"inspect", "load", "load --dry-run", "list", "trace a:b"})
    void aFileThatIsNoneIsNamedInOneLine(String command) {
        for (String file : new String[] {"/dev/zero", "/dev/null", "/proc/self", "/nonexistent/x", "/proc/self/mem"}) {
            Run run = Run.of((command + " " + file).split(" "));
            assertThat(run.code()).as(file).isEqualTo(CommandTree.FAILED);
            assertThat(run.out()).isEmpty();
            assertThat(run.err()).singleElement().asString().startsWith("bpf4j: " + file);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"inspect", "load", "load --dry-run --btf"})
    void anEmptyNameIsNotTheDirectoryAtHand(String command) {
        String[] words = (command + " x").split(" ");
        words[words.length - 1] = "";
        Run run = command.endsWith("--btf") ? Run.of(with(words, "/proc/self/exe")) : Run.of(words);
        assertThat(run.code()).isEqualTo(CommandTree.FAILED);
        assertThat(run.err()).anySatisfy(line -> assertThat(line).contains("the name of a file is empty"));
    }

    private static String[] with(String[] words, String last) {
        String[] all = Arrays.copyOf(words, words.length + 1);
        all[words.length] = last;
        return all;
    }

    @ParameterizedTest
    @ValueSource(strings = {"inspect", "load", "load --dry-run", "list", "trace a:b"})
    void aNameCannotBeginALineNorReachTheTerminalRaw(String command, @TempDir Path directory) throws IOException {
        Path file = directory.resolve("a\nbpf4j: \u001b[31mall is well\u0007");
        Files.writeString(file, "no object");
        String[] words = command.split(" ");
        Run run = Run.of(with(words, file.toString()));
        assertThat(run.code()).isEqualTo(CommandTree.FAILED);
        assertThat(run.err())
                .singleElement()
                .asString()
                .contains("a\\nbpf4j: \\x1b[31mall is well\\x07")
                .doesNotContain("\u001b");
    }

    /** Picocli would read words from it, for ever. */
    @Test
    void anAtSignIsPartOfAName() {
        Run run = Run.of("inspect", "@/dev/zero");
        assertThat(run.code()).isEqualTo(CommandTree.FAILED);
        assertThat(run.err()).containsExactly("bpf4j: @/dev/zero: no such file");
    }

    @Test
    void aNameThatIsNoTextSaysWhatToDo() {
        Run run = Run.of("inspect", "no\ufffdtext.o");
        assertThat(run.code()).isNotEqualTo(CommandTree.OK);
        // Where the encoding is UTF-8 already, no other one helps.
        boolean utf8 = "UTF-8".equals(System.getProperty("sun.jnu.encoding"));
        assertThat(String.join(" ", run.err())).contains("ln -s");
        assertThat(String.join(" ", run.err()).contains("LC_ALL=C.UTF-8")).isEqualTo(!utf8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--help", "args 8@%rax", "args --json 8@%rax", "inspect /proc/self/exe"})
    void outputThatCannotBeWrittenIsAFailure(String line) {
        StringWriter err = new StringWriter();
        CommandTree tree = new CommandTree(new Console(new FullDisk(), err, Reader.nullReader()), new Interruption());
        assertThat(tree.run(line.split(" "))).isEqualTo(CommandTree.FAILED);
        if (!line.startsWith("inspect")) {
            assertThat(err).hasToString("bpf4j: standard output can't be written: No space left on device\n");
        }
    }

    /** As /dev/full. */
    private static final class FullDisk extends OutputStream {
        @Override
        public void write(int b) throws IOException {
            throw new IOException("No space left on device");
        }
    }
}
