package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.trace.Question;
import java.util.function.UnaryOperator;
import picocli.CommandLine.Command;

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
final class CountCommand extends NumbersCommand {
    CountCommand(Console console, Interruption interruption) {
        super(console, interruption);
    }

    @Override
    UnaryOperator<Question> completion() {
        return question -> question;
    }
}
