package io.bpf4j.cli.command;

import io.bpf4j.cli.output.AskedQuestion;
import io.bpf4j.cli.output.AskedQuestion.Part;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.trace.Question;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Shows how a value is distributed over the events of probes.
 *
 * <p>Tested by {@code CliQuestionsTest}.
 */
@Command(
        name = "hist",
        description = {
            "Shows how a value is distributed: the number of events for each range of values.",
            "The kernel counts. Needs the same privileges as 'trace'."
        },
        footer = {
            "  bpf4j hist -p 4711 hotspot:object__alloc --of size --by class",
            "  bpf4j hist libc.so.6 libc:memory_heap_new --of arg1 --linear 0:1MiB:64KiB"
        })
final class HistCommand extends NumbersCommand {
    @Option(
            names = "--of",
            parameterConsumer = ExpressionValue.class,
            paramLabel = "EXPR",
            required = true,
            description = "The value: 'arg1 / 1KiB'.")
    private String of = "";

    @Option(
            names = "--linear",
            paramLabel = "A:B:STEP",
            description = "Ranges of the width STEP from A up to B, instead of powers of two: 0:100ms:10ms.")
    private @Nullable String linear;

    HistCommand(Console console, Interruption interruption) {
        super(console, interruption);
    }

    @Override
    UnaryOperator<Question> completion() {
        Optional<LinearScale> scale = Optional.ofNullable(linear).map(LinearScale::parse);
        return question -> {
            Question distribution = question.histogram(of);
            return scale.isPresent() ? scale.get().of(distribution) : distribution;
        };
    }

    @Override
    AskedQuestion asked() {
        return options.asked().with(Part.OF, of);
    }

    @Override
    List<String> expressions() {
        return List.of(of);
    }
}
