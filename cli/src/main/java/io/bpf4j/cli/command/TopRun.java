package io.bpf4j.cli.command;

import io.bpf4j.cli.output.CellWidth;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Paint;
import io.bpf4j.cli.output.Screen;
import io.bpf4j.cli.output.Table;
import io.bpf4j.cli.output.Terminal;
import io.bpf4j.cli.output.Text;
import io.bpf4j.cli.question.AnswerReport;
import io.bpf4j.cli.question.AnswerValues;
import io.bpf4j.cli.question.Changes;
import io.bpf4j.cli.question.TopTable;
import io.bpf4j.cli.trace.Signals;
import io.bpf4j.trace.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The work of {@code top}: a table of the events since the last table. At a terminal it fills the screen. Otherwise,
 * and if a started command may use the terminal, it prints one table after the other. <i>Confined.</i>
 *
 * <p>Tested by {@code CliTerminalTest} and {@code CliAnswersTest}.
 */
final class TopRun extends QuestionRun implements AutoCloseable {
    /** The maximum number of rows of a table that does not fill a screen. */
    private static final int MAX_ROWS = 20;

    /** The number of lines of the screen above and below the rows. */
    private static final int OTHER_LINES = 3;

    private static final List<String> HELP = List.of(
            "",
            "  < >, arrows   sort by the column to the left or right",
            "  r             reverse the order",
            "  1 to 9        hide a key, which adds up rows, or show it again",
            "  p, space      pause or continue; the kernel keeps counting",
            "  h, ?          show this help, or the table again",
            "  q, Ctrl-C     end, and print the last table",
            "",
            "  For other keys, run top again with another --by.");

    private final Console console;
    private final QuestionOptions options;
    private final Paint paint;
    private final TopTable table = new TopTable();
    private final Changes changes = new Changes();
    private long lastUpdate = System.nanoTime();
    private volatile @Nullable Screen screen;
    private boolean drawn;
    private boolean started;
    private boolean paused;
    private boolean help;
    private boolean quit;

    TopRun(Console console, QuestionOptions options) {
        super(console, options, options.asked(), question -> question);
        this.console = console;
        this.options = options;
        this.paint = options.paint(console);
    }

    @Override
    public void poll(Duration patience) {
        if (!started) {
            started = true;
            lastUpdate = System.nanoTime();
            open();
        }
        super.poll(patience);
        Screen full = screen;
        if (full != null) {
            boolean typed = false;
            for (String key : full.typed()) {
                typed |= type(key);
            }
            if (typed || full.hasResized()) {
                draw(full);
            }
        }
    }

    private void open() {
        if (!options.target().json() && options.target().command().isEmpty()) {
            Screen.open(console).ifPresent(opened -> {
                screen = opened;
                drawn = true;
                Signals.onResize(() -> {
                    console.resized();
                    opened.resized();
                });
            });
        }
    }

    private boolean type(String key) {
        switch (key) {
            case "q" -> quit = true;
            case "p", " " -> paused = !paused;
            case "h", "?" -> help = !help;
            default -> {
                return table.type(key);
            }
        }
        return true;
    }

    @Override
    public boolean isFull() {
        return quit || super.isFull();
    }

    @Override
    void interim(Answer answer) {
        if (options.target().json()) {
            if (options.everyGiven()) {
                super.interim(answer);
            }
            return;
        }
        if (paused) {
            return;
        }
        update(answer);
        Screen full = screen;
        if (full != null) {
            draw(full);
        } else if (table.rate() > 0) {
            tables();
        }
    }

    private void update(Answer answer) {
        long now = System.nanoTime();
        table.update(changes.next(answer.rows()), Math.max(1, now - lastUpdate) / 1e9);
        lastUpdate = now;
    }

    /** Prints a table of the rows that have new events. */
    private void tables() {
        Table rates = new Table("");
        AnswerReport.fill(rates, "EVENTS/S", table.recent(MAX_ROWS), n -> Long.toString(table.perSecond(n)));
        rates.print(console, paint);
        console.line("");
    }

    private void draw(Screen full) {
        Terminal.Size size = full.size();
        List<String> lines = new ArrayList<>();
        lines.add(paint.strong(CellWidth.cut(title(), size.columns())));
        lines.addAll(
                help
                        ? HELP.stream()
                                .map(line -> CellWidth.cut(line, size.columns()))
                                .toList()
                        : table.lines(size.rows() - OTHER_LINES, OptionalInt.of(size.columns()), paint));
        while (lines.size() < size.rows() - 1) {
            lines.add("");
        }
        List<String> above = lines.subList(0, Math.max(0, Math.min(lines.size(), size.rows() - 1)));
        List<String> all = new ArrayList<>(above);
        all.add(paint.faint(
                CellWidth.cut(full.lastMessage().map(Text::printable).orElseGet(this::keys), size.columns())));
        full.draw(all);
    }

    private String title() {
        return "bpf4j top  " + Text.printable(String.join(" ", options.target().names())) + "  "
                + table.rate() + " events/s  " + table.total() + " in all  every "
                + AnswerValues.withUnit(options.every().orElse(0), false, "ns")
                + (paused ? "  PAUSED" : "");
    }

    private String keys() {
        StringBuilder text = new StringBuilder("q quit  < > sort  r reverse  p pause  h help ");
        for (int i = 0; i < Math.min(9, table.names().size()); i++) {
            text.append(' ')
                    .append(i + 1)
                    .append(' ')
                    .append(Text.printable(table.names().get(i)));
        }
        return text.toString();
    }

    @Override
    public void abandon() {
        Screen full = screen;
        if (full != null) {
            full.abandon();
        }
        super.abandon();
    }

    /** Frees the screen before the probes are detached, which may take a while. */
    @Override
    public void ended() {
        super.ended();
        close();
    }

    @Override
    void print(Answer answer) {
        if (!drawn) {
            super.print(answer);
            return;
        }
        if (table.names().isEmpty()) {
            update(answer);
        }
        int rows = console.terminal()
                        .flatMap(Terminal::size)
                        .map(Terminal.Size::rows)
                        .orElse(MAX_ROWS)
                - OTHER_LINES;
        table.lines(rows, console.columns(), paint).forEach(console::line);
    }

    @Override
    public void close() {
        Screen full = screen;
        screen = null;
        if (full != null) {
            full.close();
        }
    }
}
