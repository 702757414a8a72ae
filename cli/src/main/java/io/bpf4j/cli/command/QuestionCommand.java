package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;

/** A command that asks a question with the options that all questions share. */
abstract class QuestionCommand implements Callable<Integer> {
    final Console console;
    final Interruption interruption;

    @Mixin
    final QuestionOptions options = new QuestionOptions();

    QuestionCommand(Console console, Interruption interruption) {
        this.console = console;
        this.interruption = interruption;
    }

    @Override
    public final Integer call() throws IOException {
        options.check();
        ask();
        return CommandTree.OK;
    }

    /** Checks the command's own options, and asks. */
    abstract void ask() throws IOException;

    /** Asks until the end. */
    final void run(QuestionRun run) throws IOException {
        TargetRun.of(console, interruption, options.target()).run(run);
    }
}
