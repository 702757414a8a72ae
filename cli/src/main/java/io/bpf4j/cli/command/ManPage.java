package io.bpf4j.cli.command;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * The manual page, made from picocli's model, in the macros of man(7): {@code .SH} a section, {@code .SS} a subsection,
 * {@code .TP} an indented paragraph whose first line is its tag, {@code .nf} and {@code .fi} around lines that are not
 * filled.
 *
 * <p>Why not picocli's generator: it is a library of its own, whose output is AsciiDoc, and asciidoctor, a program in
 * Ruby, makes the page of that. This class lets {@code bpf4j man} print the page of the command that runs.
 *
 * <p>Tested by {@code CompletionScriptTest} and {@code CliCompletionTest}.
 */
final class ManPage {
    private final CommandSpec root;
    private final StringBuilder roff = new StringBuilder();

    /** @param root the command with all subcommands */
    ManPage(CommandSpec root) {
        this.root = root;
    }

    String roff() {
        List<CommandSpec> commands = CommandText.commands(root);
        line(".TH BPF4J 1");
        line(".SH NAME");
        text("bpf4j - trace USDT probes and functions, load BPF programs");
        line(".SH SYNOPSIS");
        text("\fBbpf4j\fR \fICOMMAND\fR [\fIOPTION\fR...] [\fIOPERAND\fR...]");
        line(".SH DESCRIPTION");
        text(CommandText.description(root));
        text("Commands, each with its own options, are described below. Every command takes \fB--help\fR and "
                + "\fB--version\fR.");
        line(".SH COMMANDS");
        commands.forEach(this::command);
        line(".SH EXIT STATUS");
        CommandText.exitCodes(root).forEach((code, meaning) -> tagged(code, meaning));
        line(".SH ENVIRONMENT");
        tagged("BPF4J_DEBUG", "If it is 1, a failure is printed with its stack trace.");
        tagged("NO_COLOR", "If it is set and not empty, nothing is coloured unless \fB--color=always\fR is given.");
        line(".SH FILES");
        tagged(
                "~/.config/bpf4j/probes",
                "Names and types of the arguments of your own probes, and your own questions.");
        line(".SH EXAMPLES");
        examples(root);
        return roff.toString();
    }

    private void command(CommandSpec command) {
        line(".SS bpf4j " + escaped(command.name()) + operands(command));
        text(CommandText.description(command));
        for (PositionalParamSpec operand : command.positionalParameters()) {
            tagged("\fI" + operand.paramLabel() + "\fR", CommandText.description(operand));
        }
        for (OptionSpec option : CommandText.options(command)) {
            if (!option.versionHelp() && !option.usageHelp()) {
                tagged(synopsis(option), CommandText.description(option));
            }
        }
        if (!CommandText.examples(command).isEmpty()
                && !CommandText.examples(command).equals(CommandText.examples(root))) {
            text("Examples:");
            examples(command);
        }
    }

    private static String operands(CommandSpec command) {
        return command.positionalParameters().stream()
                .map(operand -> " [\\fI" + escaped(operand.paramLabel()) + "\\fR...]")
                .collect(Collectors.joining());
    }

    private static String synopsis(OptionSpec option) {
        return Arrays.stream(option.names())
                .map(name -> "\fB" + name + "\fR"
                        + (CommandText.takesValue(option)
                                ? (name.startsWith("--") ? "=" : " ") + "\fI" + option.paramLabel() + "\fR"
                                : ""))
                .collect(Collectors.joining(", "));
    }

    private void examples(CommandSpec command) {
        line(".PP");
        line(".nf");
        line(".RS 4");
        CommandText.examples(command).forEach(example -> line(escaped(example)));
        line(".RE");
        line(".fi");
    }

    private void tagged(String tag, String text) {
        line(".TP");
        line(escaped(tag));
        line(escaped(text));
    }

    private void text(String text) {
        line(".PP");
        line(escaped(text));
    }

    private void line(String line) {
        roff.append(line).append('\n');
    }

    /**
     * Escapes a text for roff: a backslash, a hyphen and quotes stand for themselves, and no line begins with a control
     * character. A form feed, which no text contains, becomes the backslash of a font escape.
     */
    private static String escaped(String text) {
        String escaped = text.replace("…", "...")
                .replace("\\", "\\e")
                .replace("-", "\\-")
                .replace("'", "\\(aq")
                .replace("^", "\\(ha")
                .replace("~", "\\(ti")
                .replace("\f", "\\f");
        String ascii = escaped.codePoints()
                .mapToObj(c -> c < 128 ? Character.toString(c) : String.format(Locale.ROOT, "\\[u%04X]", c))
                .collect(Collectors.joining());
        return ascii.startsWith(".") ? "\\&" + ascii : ascii;
    }
}
