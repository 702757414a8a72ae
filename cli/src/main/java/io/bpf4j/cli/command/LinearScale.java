package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.trace.Question;
import io.bpf4j.trace.internal.expression.Expression;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * The ranges of {@code --linear A:B:STEP}, whose numbers may have units. <i>Immutable.</i>
 *
 * <p>Tested by {@code CliQuestionsTest}.
 */
record LinearScale(long from, long to, long step) {
    private static final Pattern PARTS = Pattern.compile(":");

    static LinearScale parse(String text) {
        List<OptionalLong> numbers = PARTS.splitAsStream(text)
                .map(part -> Expression.parse(part).constant())
                .toList();
        if (numbers.size() != 3 || numbers.stream().anyMatch(OptionalLong::isEmpty)) {
            throw new UsageException("--linear takes three numbers A:B:STEP, such as 0:100ms:10ms, not '" + text + "'");
        }
        return new LinearScale(
                numbers.get(0).getAsLong(),
                numbers.get(1).getAsLong(),
                numbers.get(2).getAsLong());
    }

    Question of(Question question) {
        try {
            return question.linear(from, to, step);
        } catch (IllegalArgumentException e) {
            throw new UsageException("--linear: " + e.getMessage());
        }
    }
}
