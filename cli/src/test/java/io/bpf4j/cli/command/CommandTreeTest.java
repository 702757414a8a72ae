package io.bpf4j.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Reader;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommandTreeTest {
    @Test
    void versionNamesBpf4jJavaAndTheKernel() {
        Run run = Run.of("--version");
        assertThat(run.code()).isEqualTo(CommandTree.OK);
        assertThat(run.out())
                .singleElement()
                .asString()
                .startsWith("bpf4j ")
                .contains("Java " + System.getProperty("java.version"));
        assertThat(run.out().getFirst()).doesNotContain("${").doesNotContain("unknown");
        assertThat(run.err()).isEmpty();
    }

    @Test
    void helpNamesEveryCommand() {
        Run run = Run.of("--help");
        assertThat(run.code()).isEqualTo(CommandTree.OK);
        assertThat(String.join("\n", run.out()))
                .contains("demo", "list", "trace", "load", "inspect", "features", "args", "Exit codes:")
                .doesNotContain("--debug");
    }

    /** The user has not written the name of the command that a ready question stands for. */
    @Test
    void aWrongReadyQuestionIsCalledByItsName() {
        Run run = Run.of("jvm", "gc");
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err())
                .containsExactly(
                        "bpf4j jvm gc: name a FILE, or give one of -p PID, -c CMD and --all",
                        "Try 'bpf4j latency --help'.");
        assertThat(Run.of("latency").err().getFirst()).startsWith("bpf4j latency: ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"trace", "count", "hist", "latency", "top", "stack"})
    void everyOptionOfACommandThatAttachesIsInAGroup(String command) {
        List<String> help = Run.of(command, "--help").out();
        assertThat(help).contains("What to trace:", "How to show it:", "When to end:", "How to attach:");
        List<String> others = help.subList(help.indexOf("Help:") + 1, help.size()).stream()
                .takeWhile(line -> !line.isBlank())
                .toList();
        assertThat(others).hasSize(2);
        assertThat(others.getFirst()).contains("-h, --help");
        assertThat(others.getLast()).contains("-V, --version");
    }

    @Test
    void helpIsACommandToo() {
        assertThat(Run.of("help")).isEqualTo(Run.of("--help"));
        assertThat(Run.of("help", "count")).isEqualTo(Run.of("count", "--help"));
        Run run = Run.of("help", "cuont");
        assertThat(run.code()).isEqualTo(CommandTree.USAGE);
        assertThat(run.err().getFirst()).isEqualTo("bpf4j: there is no command 'cuont'; the nearest is 'count'");
    }

    @Test
    void aMisspelledNameHasItsNearest() {
        assertThat(Run.of("cuont", "-p", "1").err().getFirst())
                .isEqualTo("bpf4j: there is no command 'cuont'; the nearest is 'count'");
        assertThat(Run.of("count", "-p", "1", "a:b", "--folow").err().getFirst())
                .isEqualTo("bpf4j count: there is no option '--folow'; the nearest is '--follow'");
        assertThat(Run.of("count", "-p", "1", "a:b", "--stratgy=multi").err().getFirst())
                .isEqualTo("bpf4j count: there is no option '--stratgy'; the nearest is '--strategy'");
        assertThat(Run.of("count", "-p", "1", "a:b", "--debgu").err().getFirst())
                .doesNotContain("--debug");
    }

    @Test
    void functionsAreNotLookedForInAllFiles() {
        Run run = Run.of("count", "--all", "u:malloc");
        assertThat(run.code()).isEqualTo(CommandTree.USAGE);
        assertThat(run.err().getFirst()).contains("--all", "FILE", "u:malloc");
    }

    /** There is a folder "src", where the tests run. */
    @Test
    void aFunctionMayBeNamedLikeAFile() {
        Run run = Run.of("trace", "-p", "1", "u:src");
        assertThat(run.code()).isEqualTo(CommandTree.USAGE);
        assertThat(run.err().getFirst()).contains("u:src", "--show");
    }

    @ParameterizedTest
    @ValueSource(strings = {"demo", "list", "trace", "merge", "load", "inspect", "generate", "features", "args"})
    void everyCommandHasHelpWithExamplesAndAVersionAndJson(String command) {
        Run help = Run.of(command, "--help");
        assertThat(help.code()).isEqualTo(CommandTree.OK);
        assertThat(String.join("\n", help.out())).contains("Examples:", "  bpf4j " + command, "--json");
        assertThat(help.out())
                .allSatisfy(
                        line -> assertThat(line).hasSizeLessThanOrEqualTo(100).doesNotContain("%" + "%"));
        assertThat(Run.of(command, "--version").out())
                .isEqualTo(Run.of("--version").out());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "nonsense",
                "--nonsense",
                "args",
                "args --machine",
                "args --nonsense",
                "args --machine vax x",
                "list",
                "list -p x",
                "list -p 1 /bin/sh",
                "list a:b: x",
                "trace",
                "trace a:b",
                "trace /bin/sh",
                "trace -p 1 -c true a:b",
                "trace -p 1 --str 12 a:b",
                "trace -p 1 --str 1:1 a:b",
                "trace -p 1 --duration 0 a:b",
                "trace -p 1 --duration NaN a:b",
                "trace -p 1 --count 0 a:b",
                "demo --seconds 0",
                "demo --seconds 11",
                "load",
                "inspect",
                "generate",
                "generate --event events x.bpf.o"
            })
    void wrongUsageIsTwoLinesAndExitCodeTwo(String line) {
        Run run = Run.of(line.isEmpty() ? new String[0] : line.split(" "));
        assertThat(run.code()).isEqualTo(CommandTree.USAGE);
        assertThat(run.out()).isEmpty();
        assertThat(run.err()).hasSize(2).first().asString().startsWith("bpf4j");
        assertThat(run.err().getLast()).startsWith("Try 'bpf4j").endsWith("--help'.");
    }

    @Test
    void aNumberThatIsNoneIsToldWithoutTheNameOfAType() {
        Run run = Run.of("list", "-p", "99999999999");
        assertThat(run.code()).isEqualTo(CommandTree.USAGE);
        assertThat(run.err().getFirst())
                .isEqualTo(
                        "bpf4j list: Invalid value for option '-p': '99999999999' is not a whole number up to 2147483647");
        assertThat(Run.of("trace", "-p", "99999999999", "a:b").err().getFirst())
                .isEqualTo("bpf4j trace: -p takes the number of a process up to 2147483647, or unit=NAME,"
                        + " container=ID, pod=UID or cgroup=PATH; not '99999999999'");
    }

    @Test
    void failureIsOneLineAndTheStackOnlyOnDemand() {
        Run quiet = Run.of("list", "-p", "2147483647");
        assertThat(quiet.code()).isEqualTo(CommandTree.FAILED);
        assertThat(quiet.err()).containsExactly("bpf4j: no process 2147483647");
        Run loud = Run.of("list", "--debug", "-p", "2147483647");
        assertThat(loud.code()).isEqualTo(CommandTree.FAILED);
        assertThat(loud.err()).hasSizeGreaterThan(1).element(1).asString().contains("CommandException");
    }

    @Test
    void aReaderThatGoesAwayEndsTheCommandQuietly() {
        OutputStream closed = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("Broken pipe");
            }
        };
        StringWriter err = new StringWriter();
        CommandTree tree = new CommandTree(new Console(closed, err, Reader.nullReader()), new Interruption());
        assertThat(tree.run("args", "--machine", "x86_64", "8@%rax")).isEqualTo(CommandTree.OK);
        assertThat(err).hasToString("");
    }
}
