package io.bpf4j.cli.command;

import io.bpf4j.cli.output.AskedQuestion;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.trace.Question;
import java.io.IOException;
import java.util.List;
import java.util.function.UnaryOperator;

/** A question whose answer consists of numbers: counts or distributions, which metrics can have, too. */
abstract class NumbersCommand extends QuestionCommand {
    NumbersCommand(Console console, Interruption interruption) {
        super(console, interruption);
    }

    /**
     * Checks the command's own options, and returns what adds them to a question with filter and keys. Called once.
     *
     * @throws io.bpf4j.cli.failure.UsageException if they don't fit together
     */
    abstract UnaryOperator<Question> completion() throws IOException;

    /** Which events are counted, and by which keys, for {@code merge}. Called after {@link #completion}. */
    AskedQuestion asked() {
        return options.asked();
    }

    /** Whether an answer requires a probe for each pattern. */
    boolean needsAllProbes() {
        return false;
    }

    /** The expressions of the command's own options. */
    List<String> expressions() {
        return List.of();
    }

    @Override
    final void ask() throws IOException {
        UnaryOperator<Question> completion = completion();
        run(new QuestionRun(console, options, asked(), completion) {
            @Override
            public boolean needsAllProbes() {
                return NumbersCommand.this.needsAllProbes();
            }
        });
    }
}
