package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.EndRecord;
import io.bpf4j.cli.output.LineBuffer;
import io.bpf4j.cli.question.AnswerReport;
import io.bpf4j.cli.trace.EventFormat;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.trace.EventStream;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.RunningProgram;
import io.bpf4j.trace.event.ProbeEvent;
import io.bpf4j.trace.event.TextArgument;
import io.bpf4j.trace.event.TracedProbe;
import io.bpf4j.usdt.UsdtProbe;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The work of {@code trace}: prints each event, and the sums at the end. <i>Confined.</i>
 *
 * <p>Tested by {@code CliTraceTest} and {@code CliStrategyTest}.
 */
final class TraceRun implements TargetRun.Work {
    private static final String OF_NO_KNOWN_PROBE = "of no known probe";

    private final Console console;
    private final TraceOptions options;
    private final LineBuffer lines = new LineBuffer();
    private final EventFormat format;
    private @Nullable EventStream stream;
    private long events;

    /** The events whose lines are written. */
    private long written;

    TraceRun(Console console, TraceOptions options) {
        this.console = console;
        this.options = options;
        this.format = EventFormat.create(options.target().json(), lines);
    }

    @Override
    public RunningProgram load(List<UsdtProbe> probes, List<FunctionProbe> functions) throws IOException {
        options.checkPauses();
        EventStream loaded = QuestionOptions.about(options.target(), probes, functions)
                .withTexts(options.strings().toArray(TextArgument[]::new))
                .withBuffer(options.bufferBytes())
                .withLossless(options.lossless())
                .loadEvents();
        stream = loaded;
        return loaded;
    }

    private EventStream stream() {
        return Objects.requireNonNull(stream, "load comes first");
    }

    @Override
    public void poll(Duration patience) {
        stream().poll(patience, this::print);
        write();
    }

    private void write() {
        console.lines(lines);
        written = events;
    }

    @Override
    public void keepUp() {
        poll(Duration.ZERO);
    }

    @Override
    public boolean isFull() {
        OptionalLong most = options.count();
        return most.isPresent() && events >= most.getAsLong();
    }

    @Override
    public void finish(List<Diagnostic> gaps) {
        stream().drain(this::print);
        write();
        TargetReport.hints(console, options.target(), stream());
        TraceOptions.reportPaused(console, stream().stillPaused());
        summary(stream().lost(), stream().unknown(), gaps);
    }

    private void print(ProbeEvent event, TracedProbe probe) {
        if (isFull()) {
            return;
        }
        events++;
        format.write(event, probe);
        if (lines.size() >= LineBuffer.FULL) {
            write();
        }
    }

    /**
     * The thread of this run wrote both numbers before it began to wait for the reader; a volatile field orders these
     * accesses.
     */
    @Override
    public String unwritten() {
        return "it has the lines of " + Scans.count(written, "event")
                + "; those of later events, and the sums, are lost";
    }

    private void summary(long lost, long unknown, List<Diagnostic> gaps) {
        if (options.target().json()) {
            console.line(new EndRecord(events, lost)
                    .because(gaps)
                    .lacking("unknown", unknown, OF_NO_KNOWN_PROBE)
                    .json(console.remarks()));
        } else {
            console.line(Scans.count(events, "event") + ", " + lost + " lost"
                    + (unknown > 0 ? ", " + unknown + " " + OF_NO_KNOWN_PROBE : "")
                    + (gaps.isEmpty() ? "" : "; not exact: " + AnswerReport.because(gaps)));
        }
        console.flush();
    }
}
