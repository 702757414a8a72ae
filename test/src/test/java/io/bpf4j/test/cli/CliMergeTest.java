package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.HELD_COMMANDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers about two processes, added up, are the answer about one that does the work of both. */
@Requires({BPF, BPF_COOKIE, GCC, HELD_COMMANDS})
@Timeout(600) // for what hangs
class CliMergeTest {
    @TempDir
    private static Path folder;

    private static Path asked;

    @BeforeAll
    static void compile() {
        asked = CPrograms.asked();
    }

    private static String out(String... line) throws IOException, InterruptedException {
        Commands.Result result = Cli.run(line);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return result.out();
    }

    /** Asks about a run of the program. */
    private static String ask(String run, String question) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of(question.split(" ")));
        line.addAll(1, List.of("-c", asked + " " + run));
        return out(line.toArray(String[]::new));
    }

    private static String file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text).toString();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "count asked:value",
                "count asked:value --by str(arg1),arg0%5",
                "top asked:value --by str(arg1)",
                "hist asked:value --of arg2 --by str(arg1)",
                "hist asked:value --of arg3",
                "hist asked:value --of arg3 --linear -100:100:10",
            })
    void theSumOfTwoProcessesIsTheAnswerAboutBoth(String question) throws IOException, InterruptedException {
        String first = file("first.json", ask("values 600", question + " --json"));
        String second = file("second.json", ask("values 600", question + " --json"));
        assertThat(out("merge", "--json", first, second)).isEqualTo(ask("threads 2 600", question + " --json"));
        assertThat(out("merge", first, second)).isEqualTo(ask("threads 2 600", question.replace("top ", "count ")));
    }

    /** Their rows have the same form, so only the questions tell them apart. */
    @Test
    void answersOfDifferentQuestionsAreRefused() throws IOException, InterruptedException {
        String all = file("all.json", ask("values 600", "count asked:value --json"));
        String some = file("some.json", ask("values 600", "count asked:value --where arg0>9 --json"));
        Commands.Result result = Cli.run("merge", all, some);
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.err())
                .isEqualTo("bpf4j: " + some + ":2: answers another question than " + all
                        + ": its 'where' is 'arg0>9', not absent\n");
        String none = file("none.json", ask("values 600", "count asked:leaf --json"));
        assertThat(Cli.run("merge", all, none).err())
                .isEqualTo("bpf4j: " + none + ":1: answers another question than " + all
                        + ": its 'probes' is 'asked:leaf', not 'asked:value'\n");
    }

    @Test
    void beginsWithoutEndAreAddedUp() throws IOException, InterruptedException {
        String question = "latency asked:begin asked:end --json";
        String first = file("first.json", ask("pairs 3 1000", question));
        String second = file("second.json", ask("pairs 4 1000", question));
        assertThat(out("merge", first, second))
                .contains("  7 events, min ")
                .endsWith("\n7 events, 2 without a begin, 2 without an end yet\n");
    }

    @Test
    void stacksOfTwoProcessesAreOne() throws IOException, InterruptedException {
        String first = file("first.json", ask("tree 5", "stack asked:leaf --json"));
        String second = file("second.json", ask("tree 6", "stack asked:leaf --json"));
        assertThat(out("merge", first, second))
                .startsWith("11\n    leaf\n    middle\n    top\n    main\n")
                .endsWith("\n11 events\n");
    }

    @Test
    void anAnswerWithIntervalsAndShownEventsIsItsLastRows() throws IOException, InterruptedException {
        String every = ask("pairs 300 10000", "latency asked:begin asked:end --every 10ms --json");
        assertThat(every).contains("\"type\":\"interval\"");
        assertThat(out("merge", file("every.json", every))).contains("  300 events, min ");
        String slower = ask("pairs 3 3000", "latency asked:begin asked:end --slower 1ms --json");
        assertThat(slower).contains("\"shown\":3,");
        assertThat(out("merge", file("slower.json", slower))).contains("  3 events, min ");
        String cut = every.substring(0, every.lastIndexOf("{\"type\":\"row\""));
        Commands.Result result = Cli.run("merge", file("cut.json", cut + slower));
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).endsWith("precede it: the previous answer is cut off\n");
    }

    @Test
    void anAnswerThatIsCutOffIsRefused() throws IOException, InterruptedException {
        String whole = ask("values 600", "count asked:value --by str(arg1) --json");
        String file = file("cut.json", whole.substring(0, whole.lastIndexOf("{\"type\":\"end\"")));
        Commands.Result result = Cli.run("merge", file);
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.err())
                .isEqualTo("bpf4j: " + file
                        + ":3: is the last line, but not the end of an answer: the input is cut off\n");
    }
}
