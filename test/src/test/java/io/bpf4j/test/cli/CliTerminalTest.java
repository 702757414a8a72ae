package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.TMUX;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.CtrlC;
import io.bpf4j.test.support.FirstProgram;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Tmux;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Questions at a terminal: full screen, keys, sizes, colours. A picture may be looked at when half of it is drawn; so
 * it is awaited with all that is said about it.
 */
@Requires({BPF, GCC, SDT_H, TMUX})
@Timeout(600) // for what hangs
class CliTerminalTest {
    /** The lower bounds of ranges, above the cells of a distribution. */
    private static final Pattern AXIS = Pattern.compile("\n {14}\\d.* (us|ms)");

    private static Path program;
    private static Process working;

    @TempDir
    Path folder;

    @BeforeAll
    static void start() throws IOException, InterruptedException {
        program = CPrograms.asked();
        // About a thousand pairs a second, for as long as it is let live.
        working = new ProcessBuilder(program.toString(), "pairs", "1000000000", "1000").start();
        ProcessState.awaitAsleep(working.pid(), "asked");
    }

    @AfterAll
    static void end() {
        if (working != null) {
            Processes.end(working);
        }
    }

    private static String top() {
        return "./bpf4j top -p " + working.pid() + " asked:end --by 'str(arg1),comm' --every 0.2";
    }

    /** The same command line, in a process whose number is in the file {@code number}. */
    private String numberedTop() throws IOException {
        FirstProgram.script(folder.resolve("numbered"), "echo $$ >number", "exec ./bpf4j \"$@\"");
        return top().replace("./bpf4j", "./numbered");
    }

    private long number() throws IOException {
        return Long.parseLong(Files.readString(folder.resolve("number")).strip());
    }

    /** The rows below a header that has this. */
    private static List<String> below(String screen, String header) {
        return screen.lines()
                .dropWhile(line -> !line.contains(header))
                .skip(1)
                .takeWhile(line -> line.matches(" *\\d+ +\\d+ .*"))
                .toList();
    }

    @Test
    void topFillsTheScreenAndObeysKeys() throws IOException, InterruptedException {
        try (Tmux terminal = new Tmux(folder, 100, 20)) {
            terminal.line(top());
            String full = terminal.await(
                    "three rows and the keys",
                    screen -> below(screen, "EVENTS/S▼").size() == 3 && screen.contains("q quit"));
            assertThat(full).startsWith("bpf4j top  asked:end").doesNotContain("$");
            assertThat(terminal.isFullScreen()).isTrue();
            assertThat(terminal.showsCursor()).isFalse();
            terminal.press("Right");
            terminal.await("TOTAL▼");
            terminal.press(">");
            terminal.await(
                    "ascending keys",
                    screen -> screen.contains("str(arg1)▼") && rows(screen).equals(List.of("blue", "green", "red")));
            terminal.press("r");
            terminal.await(
                    "descending keys",
                    screen -> screen.contains("str(arg1)▲") && rows(screen).equals(List.of("red", "green", "blue")));
            terminal.press("1");
            terminal.await("one row", screen -> below(screen, "comm▲").size() == 1);
            terminal.press("h");
            terminal.await("pause or continue");
            terminal.press("h");
            terminal.press("p");
            terminal.await("PAUSED");
            terminal.press("q");
            String last = terminal.await("the table and the prompt", screen -> screen.contains(" events\n$"));
            assertThat(last).contains("comm▲").contains("tracing 1 probe");
            assertThat(terminal.isFullScreen()).isFalse();
            assertThat(terminal.showsCursor()).isTrue();
        }
    }

    private static List<String> rows(String screen) {
        return below(screen, "str(arg1)").stream()
                .map(line -> line.strip().split(" +", -1)[2])
                .toList();
    }

    @Test
    void topFollowsTheSize() throws IOException, InterruptedException {
        try (Tmux terminal = new Tmux(folder, 100, 20)) {
            terminal.line(top());
            terminal.await("q quit");
            terminal.resize(30, 5);
            terminal.await(
                    "a last line that is cut",
                    screen -> screen.lines().anyMatch(line -> line.startsWith("q quit") && line.endsWith("…")));
            assertThat(terminal.await(
                                    "two rows",
                                    screen -> below(screen, "EVENTS/S").size() == 2)
                            .lines())
                    .hasSizeLessThanOrEqualTo(5);
            terminal.resize(120, 20);
            terminal.await("three rows", screen -> below(screen, "EVENTS/S").size() == 3);
            terminal.press("q");
            terminal.await(" events\n$");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"INT", "TERM", "HUP"})
    void theTerminalIsGivenBack(String signal) throws IOException, InterruptedException {
        try (Tmux terminal = new Tmux(folder, 100, 20)) {
            terminal.line("stty -g >before");
            terminal.line(numberedTop() + "; stty -g >after; echo 'ended' 'now'");
            terminal.await("three rows", screen -> below(screen, "EVENTS/S").size() == 3);
            if (signal.equals("INT")) {
                terminal.press("C-c");
            } else {
                Commands.check(List.of("kill", "-" + signal, Long.toString(number())));
            }
            String last = terminal.await("ended now");
            assertThat(below(last, "EVENTS/S")).hasSize(3);
            assertThat(terminal.isFullScreen()).isFalse();
            assertThat(terminal.showsCursor()).isTrue();
            assertThat(folder.resolve("after")).hasSameTextualContentAs(folder.resolve("before"));
        }
    }

    /**
     * The terminal takes no output, so the command is in the middle of a picture, and the second signal ends it there.
     * Another process gives the terminal back, which may outlive the command; until then the shell prints nothing.
     */
    @Test
    void theTerminalIsGivenBackInTheMiddleOfAPicture() throws IOException, InterruptedException {
        try (Tmux terminal = new Tmux(folder, 100, 20)) {
            terminal.line("stty -g >before; tty >name");
            terminal.line(
                    numberedTop().replace("0.2", "0.01") + "; until [ -e go ]; do sleep 0.1; done; echo 'ended' 'now'");
            terminal.await("q quit");
            String server = terminal.server();
            Commands.check(List.of("kill", "-STOP", server));
            try {
                ProcessState.awaitStopped(Long.parseLong(server));
                ProcessState.awaitBlockedWrite(number());
                CtrlC.untilEnd(number());
            } finally {
                Commands.check(List.of("kill", "-CONT", server));
            }
            String before = Files.readString(folder.resolve("before"));
            String name = Files.readString(folder.resolve("name")).strip();
            Await.until(
                    "the terminal has its settings again",
                    () -> Commands.check(List.of("stty", "-g", "-F", name)),
                    before::equals);
            Await.until(
                    "the screen is as before the command", () -> !terminal.isFullScreen() && terminal.showsCursor());
            Files.createFile(folder.resolve("go"));
            terminal.await("ended now");
        }
    }

    @Test
    void topEndsWithTheProcess() throws IOException, InterruptedException {
        Process other = new ProcessBuilder(program.toString(), "pairs", "1000000000", "1000").start();
        try (Processes.Ended _ = Processes.endAfterwards(other);
                Tmux terminal = new Tmux(folder, 100, 20)) {
            ProcessState.awaitAsleep(other.pid(), "asked");
            terminal.line("./bpf4j top -p " + other.pid() + " asked:end --every 0.2 2>messages; echo 'ended' 'now'");
            terminal.await("a row", screen -> below(screen, "EVENTS/S").size() == 1);
            Processes.end(other);
            assertThat(below(terminal.await("ended now"), "EVENTS/S")).hasSize(1);
            assertThat(terminal.isFullScreen()).isFalse();
        }
    }

    @Test
    void aDumbTerminalGetsTables() throws IOException, InterruptedException {
        try (Tmux terminal = new Tmux(folder, 100, 20)) {
            terminal.line("TERM=dumb " + top());
            terminal.await("EVENTS/S  str(arg1)");
            assertThat(terminal.isFullScreen()).isFalse();
            terminal.press("C-c");
            terminal.await("events\n$");
        }
    }

    @Test
    void aHistogramHasColoursAndFits() throws IOException, InterruptedException {
        try (Tmux terminal = new Tmux(folder, 60, 40)) {
            String question = "./bpf4j hist -c '" + program
                    + " values 400' asked:value --of arg2 --by 'str(arg1)' --linear 0:8:1";
            terminal.line(question);
            String shown = terminal.await("400 events");
            assertThat(terminal.coloured()).contains("\u001b[36m█").contains("\u001b[1mstr(arg1)=");
            assertThat(shown.lines())
                    .as("no line is broken")
                    .filteredOn(line -> line.startsWith("█"))
                    .isEmpty();
            terminal.line("clear; NO_COLOR=1 " + question + " | tail -1; NO_COLOR=1 " + question);
            terminal.await(
                    "twice",
                    screen -> screen.lines().filter("400 events"::equals).count() == 2);
            assertThat(terminal.coloured()).contains("█").doesNotContain("\u001b[36m");
        }
    }

    @Test
    void aDistributionOverTimeIsALineForEachInterval() throws IOException, InterruptedException {
        try (Tmux terminal = new Tmux(folder, 80, 40, "NO_COLOR=1")) {
            terminal.line("./bpf4j latency -p " + working.pid() + " asked:begin asked:end --every 0.2");
            terminal.await(
                    "five lines and an axis",
                    screen -> AXIS.matcher(screen).find()
                            && screen.lines()
                                            .filter(line ->
                                                    line.matches("\\d\\d:\\d\\d:\\d\\d\\.\\d{3}  .*[░▒▓█].*  \\d+"))
                                            .count()
                                    >= 5);
            terminal.press("C-c");
            terminal.await("events, min");
        }
    }

    @Test
    void aCountOverTimeIsABarForEachInterval() throws IOException, InterruptedException {
        try (Tmux terminal = new Tmux(folder, 80, 40)) {
            terminal.line("./bpf4j count -p " + working.pid() + " asked:end --every 0.2");
            terminal.await(
                    "three lines",
                    screen -> screen.lines()
                                    .filter(line -> line.matches("\\d\\d:\\d\\d:\\d\\d\\.\\d{3}  \\d+ +█.*"))
                                    .count()
                            >= 3);
            terminal.press("C-c");
            terminal.await("events\n$");
        }
    }

    @Test
    void aReaderThatLeavesEndsAQuestion() throws IOException, InterruptedException {
        // Not the first line, which is "0 events" if the process has had no processor until then.
        List<String> line = new ArrayList<>(List.of("sh", "-c", "\"$@\" | grep -m 1 COUNT", "sh"));
        line.addAll(Cli.command(
                "count", "-p", Long.toString(working.pid()), "asked:end", "--by", "str(arg1)", "--every", "0.1"));
        Commands.Result result = Commands.run(line);
        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).isEqualTo("COUNT  str(arg1)\n");
        assertThat(result.err().lines()).as(result.err()).hasSize(1).allMatch(text -> text.contains("tracing"));
    }
}
