package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Paint;
import picocli.CommandLine.Option;

/** Whether an answer has colours. <i>Confined.</i> */
final class ColorOption {
    @Option(
            names = "--color",
            paramLabel = "auto|always|never",
            description = "When to use colours. auto (the default): at a terminal, unless NO_COLOR is set.")
    private Paint.Choice color = Paint.Choice.AUTO;

    Paint paint(Console console) {
        return Paint.of(color, console.isTerminal(), System.getenv());
    }
}
