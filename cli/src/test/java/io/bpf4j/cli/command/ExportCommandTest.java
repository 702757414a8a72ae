package io.bpf4j.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExportCommandTest {
    @TempDir
    private Path folder;

    private Run check(String text) throws IOException {
        return Run.of(
                "export",
                "--check",
                Files.writeString(folder.resolve("agent.conf"), text).toString());
    }

    /** What is wrong with a line, after the file and the number of the line. */
    private List<String> mistakes(String line) throws IOException {
        Run run = check(line);
        assertThat(run.code()).isEqualTo(CommandTree.FAILED);
        assertThat(run.out()).isEmpty();
        String prefix = "bpf4j: " + folder.resolve("agent.conf") + ":1: ";
        assertThat(run.err().getFirst()).startsWith(prefix);
        return run.err().stream().map(each -> each.replace(prefix, "")).toList();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "m count -p 1 shop:order",
                "m count --all 'shop:*' --by 'pid,str(arg0, 8)' --max-keys 20 --where 'arg1 > 10ms'",
                "m count -p unit=shop@* shop:order",
                "m --help 'What is sold.' --max-series 10 count -p 1 shop:order --by arg0,comm --label item=arg0",
                "m hist -p 1 shop:order --of arg1 --linear 0:100:10 --bounds 10,20.5,30",
                "m hist -p 1 --of=-arg1 --constant where=here shop:order",
                "m latency -p 1 shop:begin shop:end --pair arg0 --by begin.arg1 --bounds 10ms,1s --stale-after 1m",
                "m latency -p 1 u:malloc",
                "m jvm gc -p 1 --max-series 10",
                "m jvm operations -p unit=shop"
            })
    void aQuestionIsTypedAsForItsCommand(String line) throws IOException {
        Run run = check(line + "\n");
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isEqualTo(CommandTree.OK);
        assertThat(run.out()).containsExactly(folder.resolve("agent.conf") + ": 1 question, no mistake");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "1m count -p 1 a:b | '1m' is not a valid metric name",
                "m | name a question: count",
                "m cuont -p 1 a:b | there is no command 'cuont'; the nearest is 'count'",
                "m count -p 1 a:b --bye pid | there is no option '--bye'",
                "m count -p 1 | name the probes to trace",
                "m count a:b | name a FILE, or give",
                "m count -p x a:b | -p takes the number of a process",
                "m count -p 1 a:b --where 'arg0 >' | expected",
                "m count -p 1 a:b --by pid,, | empty expression",
                "m hist -p 1 a:b | Missing required option: '--of",
                "m hist -p 1 a:b --of arg0 --linear 1:2 | --linear takes three numbers",
                "m hist -p 1 a:b --of arg0 --linear 5:1:1 | --linear: ",
                "m latency -p 1 a:b | name two probes",
                "m trace -p 1 a:b | trace prints single events",
                "m stack -p 1 a:b | consists of stacks",
                "m top -p 1 a:b | write count",
                "m list -p 1 | list is not a question with a metric",
                "m jvm | name a question of jvm",
                "m jvm classes -p 1 | trace prints single events",
                "m jvm gcc -p 1 | the nearest is 'gc'",
                "m postgres slow -p 1 | --slower can't be used here: a single event is not a metric",
                "m count -c true a:b | -c can't be used here: the agent starts no command",
                "m count -p 1 a:b --json | --json can't be used here",
                "m count -p 1 a:b --html x | --html can't be used here",
                "m count -p 1 a:b --duration 1 | --duration can't be used here: the agent runs until it is ended",
                "m count -p 1 a:b --every 1 | --every can't be used here",
                "m count -p 1 a:b --label x=pid | no key 'pid'",
                "m count -p 1 a:b --by pid --label 1x=pid | '1x' is not a valid label name",
                "m count -p 1 a:b --by pid --label pid | there is no = in 'pid'",
                "m count -p 1 a:b --by 'arg0+1,arg0-1' | exists already",
                "m count -p 1 a:b --constant le=1 | is not a valid label name",
                "m hist -p 1 a:b --of arg0 --bounds 2,1 | each larger than the one before",
                "m count -p 1 a:b --max-series 0 | at least one series",
                "bpf4j_m count -p 1 a:b | belong to the agent's own metrics",
            })
    void aMistakeIsSaid(String line, String message) throws IOException {
        List<String> mistakes = mistakes(line);
        assertThat(mistakes.getFirst()).contains(message);
    }

    /** What the agent refuses is no way out. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "a:b | name a FILE, or give -p PID or --all",
                "-p 1 --all a:b | -p and --all exclude each other: name a FILE, or give -p PID or --all",
                "--all /bin/true a:b | --all selects all files: give a FILE alone, or with -p",
                "--all u:malloc | --all finds files by their USDT probes: name the FILE that has the function u:malloc, or"
                        + " give -p PID",
                "-p unit=shop --follow a:b | --follow is for -p PID: later processes of unit=shop are traced, too, and none"
                        + " is held",
                "/bin/true a:b --follow | --follow needs -p; a FILE is traced in all processes, also in later ones",
                "-p 1 a:b --no-hold | --no-hold needs --follow; no other option holds a process",
                "/bin/true 'a$target:::b' | $target is the process of -p, which is not given",
                "-p 1 a:b --by 'arg0+1,arg0-1' | the label 'arg0_1' of the key arg0-1 exists already; give the key another"
                        + " label",
            })
    void noMessageNamesWhatTheAgentRefuses(String target, String message) throws IOException {
        assertThat(mistakes("m count " + target)).containsExactly(message);
    }

    @Test
    void allMistakesAreSaid() throws IOException {
        Run run = check("""
                # the file of the shop

                orders count -p 1 shop:order --json --duration 1 --label x=pid
                9 count -p 1 shop:order --where 'arg0 >' --by 'comm,)'
                orders_total count -p 1 \\
                   shop:order
                waits hist 'x
                """);
        assertThat(run.code()).isEqualTo(CommandTree.FAILED);
        assertThat(run.err().stream()
                        .filter(line -> line.startsWith("bpf4j: "))
                        .map(line -> line.replaceAll("bpf4j: .*conf:(\\d+): (\\S+ \\S+).*", "$1 $2")))
                .containsExactly(
                        "3 --json can't",
                        "3 --duration can't",
                        "3 no key",
                        "4 '9' is",
                        "4 expected a",
                        "4 expected a",
                        "5 the metric",
                        "7 a '");
    }

    @Test
    void aFileWithoutQuestionsIsAMistake() throws IOException {
        assertThat(check("# nothing\n").err()).singleElement().asString().endsWith("agent.conf: has no question");
    }

    @Test
    void aBudgetIsMoreThanNothing() {
        for (String percent : List.of("0", "-1", "NaN", "x")) {
            assertThat(Run.of("export", "--config", "/dev/null", "--max-cpu=" + percent)
                            .err()
                            .getFirst())
                    .contains("--max-cpu takes a number of percent above 0");
        }
    }

    @Test
    void oneFileIsNamed() {
        for (String[] line : new String[][] {{"export"}, {"export", "--config", "x", "--check", "y"}}) {
            Run run = Run.of(line);
            assertThat(run.code()).isEqualTo(CommandTree.USAGE);
            assertThat(run.err().getFirst()).contains("give either --config FILE or --check FILE");
        }
        assertThat(Run.of("export", "--config", "/dev/null", "--listen", "x")
                        .err()
                        .getFirst())
                .contains("--listen takes PORT");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--otlp collector:4318 | --otlp takes a URL such as http://localhost:4318, not 'collector:4318'",
                "--otlp http://collector:4317 | port 4317 is for OTLP over gRPC",
                "--otlp-every 5 | --otlp-every, --otlp-headers and --otlp-certificate need --otlp",
                "--otlp-headers /dev/null | need --otlp",
                "--otlp --otlp-every 0.5 | --otlp-every is a time from one second to one day",
                "--otlp --otlp-every x | 'x' is not a time",
                "--otlp http://a --otlp-certificate /dev/null | --otlp-certificate needs an https URL, not http",
                "--otlp --otlp http://a | should be specified only once",
                "--otlp --listen x | --listen takes PORT",
                "--otlp --token /dev/null | --token are for a server: with --otlp, --listen asks for one",
                "--tls-certificate /dev/null | --tls-certificate and --tls-key need each other",
                "--tls-key /dev/null | --tls-certificate and --tls-key need each other",
                "--tls-client-ca /dev/null | --tls-client-ca needs --tls-certificate and --tls-key",
            })
    void aWrongWayToPushIsSaid(String options, String message) {
        List<String> words = new ArrayList<>(List.of("export", "--config", "/dev/null"));
        words.addAll(List.of(options.split(" ", -1)));
        Run run = Run.of(words.toArray(String[]::new));
        assertThat(run.code()).isEqualTo(CommandTree.USAGE);
        assertThat(run.err().getFirst()).contains(message);
    }

    @Test
    void aFileOfHeadersIsReadBeforeAnythingIsAsked() throws IOException {
        Path headers = Files.writeString(folder.resolve("headers"), "token\n");
        Run run = Run.of("export", "--config", "/dev/null", "--otlp", "--otlp-headers", headers.toString());
        assertThat(run.code()).isEqualTo(CommandTree.FAILED);
        assertThat(run.err()).singleElement().asString().startsWith("bpf4j: " + headers + ": another user can read");
        Files.setPosixFilePermissions(headers, PosixFilePermissions.fromString("rw-------"));
        assertThat(Run.of("export", "--config", "/dev/null", "--otlp", "--otlp-headers", headers.toString())
                        .err())
                .singleElement()
                .asString()
                .startsWith("bpf4j: " + headers + ":1: is not a header");
    }
}
