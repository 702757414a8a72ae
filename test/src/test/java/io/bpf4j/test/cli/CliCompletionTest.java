package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.GROFF;
import static io.bpf4j.test.support.Requirement.ZSH;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Shells complete with the scripts that the command prints, and groff formats its manual page. */
@Timeout(600) // for what hangs
class CliCompletionTest {
    @TempDir
    Path folder;

    /** Shows what bash has for the last of the words. */
    private static final String BASH = """
            source "$1"; shift
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            _bpf4j 2>/dev/null
            echo "${COMPREPLY[*]}"
            """;

    @ParameterizedTest
    @CsvSource({
        "bpf4j cou, count",
        "bpf4j count --strat, --strategy",
        "bpf4j count --strategy mu, multi",
        "bpf4j count --strategy = mu, multi",
        "bpf4j -h compl, completion",
        "bpf4j completion z, zsh",
        "bpf4j jvm al, alloc",
        "bpf4j jvm gc --slo, --slower",
    })
    void bashCompletes(String line, String completed) throws IOException, InterruptedException {
        Path script = Files.writeString(folder.resolve("bpf4j.bash"), Cli.check("completion", "bash"));
        List<String> command = new ArrayList<>(List.of("bash", "--norc", "-c", BASH, "bash", script.toString()));
        command.addAll(List.of(line.split(" ")));
        Commands.Result result = Commands.run(command);
        assertThat(result.err()).isEmpty();
        assertThat(result.out().strip()).isEqualTo(completed);
    }

    /** The groups of a user's own catalog are commands as those of bpf4j's. */
    @Test
    void theUsersOwnQuestionsAreCommands() throws IOException, InterruptedException {
        Path config = Files.createDirectories(folder.resolve(".config/bpf4j"));
        Files.writeString(config.resolve("probes"), """
                provider shop
                probe sold(id: u64)
                  Something was sold.
                question shop sales
                  How often something is sold.
                  run count shop:sold
                question shop $x
                  A name that is not a plain word of a shell.
                  run count shop:sold
                """);
        assertThat(own("shop")).contains("sales", "How often something is sold.");
        assertThat(own("--help")).contains("  shop ", "Ready questions of your own: sales");
        assertThat(own("catalog", "shop:*")).contains("shop:sold(id)");
        assertThat(own("completion", "bash"))
                .contains("shop:sales", "words='sales'")
                .doesNotContain("$x");
        assertThat(own("completion", "zsh")).contains("'shop:Ready questions of your own");
        Commands.Result run = Commands.run(ownCommand("shop", "sales", "/nowhere"));
        assertThat(run.err()).contains("/nowhere: no such file");

        Files.writeString(config.resolve("probes"), "nonsense\n");
        Commands.Result broken = Commands.run(ownCommand("help", "count"));
        assertThat(broken.exitCode()).as(broken.err()).isZero();
        assertThat(Commands.run(ownCommand("--help")).err())
                .contains("probes:1: expected")
                .hasLineCount(1);
    }

    private List<String> ownCommand(String... arguments) {
        List<String> command = new ArrayList<>(List.of("env", "-u", "XDG_CONFIG_HOME", "HOME=" + folder));
        command.addAll(Cli.command(arguments));
        return command;
    }

    private String own(String... arguments) throws IOException, InterruptedException {
        Commands.Result result = Commands.run(ownCommand(arguments));
        assertThat(result.exitCode()).as(result.err()).isZero();
        return result.out();
    }

    @Test
    void bashCompletesProcessesAndLeavesFilesToItself() throws IOException, InterruptedException {
        Path script = Files.writeString(folder.resolve("bpf4j.bash"), Cli.check("completion", "bash"));
        String self = String.valueOf(ProcessHandle.current().pid());
        assertThat(Commands.run(List.of(
                                "bash", "--norc", "-c", BASH, "bash", script.toString(), "bpf4j", "count", "-p", self))
                        .out()
                        .split("\\s+"))
                .contains(self);
        assertThat(Commands.run(List.of(
                                "bash", "--norc", "-c", BASH, "bash", script.toString(), "bpf4j", "count", "/bi"))
                        .out())
                .isBlank();
        assertThat(Commands.run(List.of(
                                "bash", "--norc", "-c", "source \"$1\"; complete -p bpf4j", "bash", script.toString()))
                        .out())
                .contains("-o default", "-F _bpf4j bpf4j");
    }

    /**
     * Start file of an interactive zsh. Its line editor says when it begins to read keys; what is typed before that,
     * the terminal echoes as well. At Ctrl-T it says what is in the line, however it has drawn that.
     */
    private static final String ZSHRC = """
            autoload -U compinit
            compinit -D -u
            source "$ZDOTDIR/_bpf4j"
            setopt no_auto_menu
            bindkey -e
            zle-line-init() { print EDITING }
            zle -N zle-line-init
            say-line() { print -r -- "LINE<$BUFFER>" }
            zle -N say-line
            bindkey '^T' say-line
            """;

    /** An interactive zsh at a terminal of its own, to which keys are typed; the last is Ctrl-U: it empties the line. */
    private static final String ZSH_KEYS = """
            zmodload zsh/zpty
            zpty shell env ZDOTDIR="$1" TERM=vt100 zsh -d -i
            zpty -r shell out '*EDITING*'
            zpty -n -w shell "$2"$'\\x14'
            zpty -r shell out '*LINE<*>*'
            print -r -- "$out"
            zpty -n -w shell $'\\x15exit\\n'
            while zpty -r shell out; do :; done
            zpty -d shell
            """;

    @ParameterizedTest
    @CsvSource({
        "'bpf4j cou\t--strat\tmul\t', 'bpf4j count --strategy=multi '",
        "'bpf4j jvm al\t--slo', bpf4j jvm alloc --slo"
    })
    @Requires(ZSH)
    void zshCompletes(String keys, String completed) throws IOException, InterruptedException {
        Files.writeString(folder.resolve(".zshrc"), ZSHRC);
        Files.writeString(folder.resolve("_bpf4j"), Cli.check("completion", "zsh"));
        Commands.Result result = Commands.run(List.of("zsh", "-f", "-c", ZSH_KEYS, "zsh", folder.toString(), keys));
        assertThat(result.err()).isEmpty();
        assertThat(result.out()).contains("LINE<" + completed + ">");
    }

    @Test
    @Requires(GROFF)
    void groffFormatsTheManualPageWithoutWarnings() throws IOException, InterruptedException {
        Path page = Files.writeString(folder.resolve("bpf4j.1"), Cli.check("man"));
        Commands.Result result = Commands.run(List.of("groff", "-man", "-ww", "-Tutf8", page.toString()));
        assertThat(result.exitCode()).isZero();
        assertThat(result.err()).isEmpty();
        // Bold is a letter printed twice, or a sequence of colours.
        assertThat(result.out().replaceAll(".\b|\u001b\\[[0-9;]*m", ""))
                .contains("SYNOPSIS", "bpf4j count", "--by", "EXIT STATUS", "wrong usage");
    }
}
