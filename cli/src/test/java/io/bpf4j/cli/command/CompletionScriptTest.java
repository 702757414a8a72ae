package io.bpf4j.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the help names is in the scripts for shells, and in the manual page. */
class CompletionScriptTest {
    private static final Pattern OPTION = Pattern.compile("^  (?:(-\\w)(?:, )?)? *(--[\\w-]+)?");

    static Stream<String> commands() {
        List<String> help = Run.of("--help").out();
        return help.subList(help.indexOf("Commands:") + 1, help.size()).stream()
                .takeWhile(line -> !line.isBlank())
                .filter(line -> line.startsWith("  ") && line.charAt(2) != ' ')
                .map(line -> line.strip().split(" ", 2)[0]);
    }

    private static List<String> options(String command) {
        List<String> help = Run.of(command, "--help").out();
        return help.stream()
                .filter(line -> line.matches(" {2,6}-.*"))
                .flatMap(line -> OPTION.matcher(line).results())
                .flatMap(match -> Stream.of(match.group(1), match.group(2)))
                .filter(name -> name != null)
                .toList();
    }

    private static String text(String... command) {
        Run run = Run.of(command);
        assertThat(run.code()).isZero();
        assertThat(run.err()).isEmpty();
        return String.join("\n", run.out());
    }

    @Test
    void theHelpNamesMoreThanTwentyCommands() {
        assertThat(commands()).hasSizeGreaterThan(20).contains("count", "jvm", "completion", "man");
    }

    @ParameterizedTest
    @MethodSource("commands")
    void bashKnowsEveryOption(String command) {
        String script = text("completion", "bash");
        assertThat(script.lines().filter(line -> line.contains("'' | help) words")))
                .anySatisfy(line -> assertThat(line).containsPattern("[' ]" + command + "[' ]"));
        String words = script.lines()
                .filter(line -> line.contains(" words='-") || line.contains("words='--"))
                .filter(line -> Pattern.compile("[ |]" + command + "( \\||\\))")
                        .matcher(line)
                        .find())
                .findFirst()
                .orElseThrow();
        assertThat(words.substring(words.indexOf('\'', words.indexOf("words=")) + 1)
                        .split("[ ']"))
                .containsAll(options(command));
    }

    @ParameterizedTest
    @MethodSource("commands")
    void zshKnowsEveryOption(String command) {
        String script = text("completion", "zsh");
        assertThat(script).contains("    '" + command + ":");
        int at = script.indexOf("        " + command + ")\n");
        assertThat(at).isPositive();
        String arguments = script.substring(at, script.indexOf(";;", at));
        assertThat(options(command))
                .allSatisfy(option -> assertThat(arguments).containsPattern("'\\*?" + option + "[=\\[]"));
    }

    @ParameterizedTest
    @MethodSource("commands")
    void theManualPageHasEveryOption(String command) {
        String page = text("man");
        int at = page.indexOf(".SS bpf4j " + command);
        assertThat(at).isPositive();
        String section = page.substring(at, page.indexOf("\n.S", at + 1));
        assertThat(options(command).stream()
                        .filter(o -> !List.of("-h", "--help", "-V", "--version").contains(o)))
                .allSatisfy(option -> assertThat(section).contains("\\fB" + option.replace("-", "\\-") + "\\fR"));
    }

    @Test
    void whatIsHiddenStaysHidden() {
        assertThat(text("completion", "bash") + text("completion", "zsh") + text("man"))
                .doesNotContain("adopt")
                .doesNotContain("--debug")
                .doesNotContain("DEFAULT-VALUE");
    }

    @Test
    void anotherShellIsRefused() {
        Run run = Run.of("completion", "fish");
        assertThat(run.code()).isEqualTo(CommandTree.USAGE);
        assertThat(run.err().getFirst()).isEqualTo("bpf4j completion: 'fish' is neither bash nor zsh");
    }
}
