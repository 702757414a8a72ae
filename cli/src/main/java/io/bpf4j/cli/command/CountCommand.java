package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * Counts the events of probes in the kernel.
 *
 * <p>Tested by {@code CliQuestionsTest}.
 */
@Command(
        name = "count",
        description = {
            "Counts how often probes fire, in the kernel: exact at any rate.",
            "Ctrl-C ends and prints the counts. Needs the same privileges as 'trace'."
        },
        footer = {
            "  bpf4j count -p 4711 'hotspot:*' --by probe",
            "  bpf4j count -p 4711 hotspot:class__loaded --by name --where 'shared == false'",
            "  bpf4j count libstdc++.so.6 libstdcxx:throw --by pid,comm --duration 10"
        })
final class CountCommand implements Callable<Integer> {
    private final Console console;
    private final Interruption interruption;

    @Mixin
    private final QuestionOptions options = new QuestionOptions();

    CountCommand(Console console, Interruption interruption) {
        this.console = console;
        this.interruption = interruption;
    }

    @Override
    public Integer call() throws IOException {
        options.check();
        TargetRun.of(console, interruption, options.target())
                .run(new QuestionRun(console, options, question -> question));
        return CommandTree.OK;
    }
}
