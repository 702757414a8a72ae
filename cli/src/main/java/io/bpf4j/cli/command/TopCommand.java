package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Table;
import io.bpf4j.cli.question.AnswerReport;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.trace.Answer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * Shows which keys have the most events now.
 *
 * <p>Tested by {@code CliQuestionsTest}.
 */
@Command(
        name = "top",
        description = {
            "Shows a table of the events a second by key, the most frequent first, again every second.",
            "Ctrl-C ends and prints the counts. Without --by the keys are process, thread name and probe. Needs "
                    + "what 'trace' needs."
        },
        footer = {"  bpf4j top --all 'hotspot:*'", "  bpf4j top -p 4711 hotspot:object__alloc --by class --every 2"})
final class TopCommand implements Callable<Integer> {
    private static final long EVERY = 1_000_000_000;

    /** As many rows as fit the smallest terminals. */
    private static final int MOST_ROWS = 20;

    /** Cursor to the first column of the first line, and the screen is cleared from there. */
    private static final String CLEAR = "\u001b[H\u001b[2J";

    private final Console console;
    private final Interruption interruption;

    @Mixin
    private final QuestionOptions options = new QuestionOptions();

    TopCommand(Console console, Interruption interruption) {
        this.console = console;
        this.interruption = interruption;
    }

    @Override
    public Integer call() throws IOException {
        options.check();
        options.defaults(List.of("pid", "comm", "probe"), OptionalLong.of(EVERY));
        TargetRun.of(console, interruption, options.target()).run(new Run());
        return CommandTree.OK;
    }

    /** The work: a table of what is new since the last one. */
    private final class Run extends QuestionRun {
        private Map<Map<String, Object>, Long> before = new HashMap<>();

        Run() {
            super(console, options, question -> question);
        }

        @Override
        void interim(Answer answer) {
            if (options.target().json()) {
                return;
            }
            Map<Map<String, Object>, Long> now = new HashMap<>();
            List<Answer.Row> rates = new ArrayList<>();
            for (Answer.Row row : answer.rows()) {
                now.put(row.key(), row.count());
                long recent = row.count() - before.getOrDefault(row.key(), 0L);
                if (recent > 0) {
                    rates.add(new Answer.Row(row.key(), recent, null, null, null));
                }
            }
            before = now;
            if (rates.isEmpty() && !console.isTerminal()) {
                return;
            }
            rates.sort(Comparator.comparingLong(Answer.Row::count).reversed());
            long every = options.every().orElse(EVERY);
            Table table = new Table("");
            AnswerReport.fill(
                    table, "EVENTS/S", rates.stream().limit(MOST_ROWS).toList(), count -> perSecond(count, every));
            if (console.isTerminal()) {
                console.text(CLEAR);
            }
            table.print(console);
            console.line("");
        }

        private static String perSecond(long count, long nanos) {
            return Long.toString(Math.round(count * 1e9 / nanos));
        }
    }
}
