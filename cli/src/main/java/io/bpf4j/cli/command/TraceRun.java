package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.trace.EventFormat;
import io.bpf4j.cli.trace.ProbeSession;
import io.bpf4j.cli.trace.TraceEvent;
import io.bpf4j.cli.trace.TracedProbe;
import io.bpf4j.cli.trace.Tracer;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.usdt.UsdtProbe;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The work of {@code trace}: prints events, and the sums at the end. <i>Confined.</i>
 *
 * <p>Tested by {@code CliTraceTest} and {@code CliStrategyTest}.
 */
final class TraceRun implements TargetRun.Work {
    private final Console console;
    private final TraceOptions options;
    private final EventFormat format = EventFormat.create();
    private @Nullable Tracer tracer;
    private long events;

    TraceRun(Console console, TraceOptions options) {
        this.console = console;
        this.options = options;
    }

    @Override
    public ProbeSession load(List<UsdtProbe> probes, List<FunctionProbe> functions, int specs) {
        Tracer loaded = Tracer.load(
                options.strings(),
                specs,
                options.target().strategy(),
                options.target().strict());
        tracer = loaded;
        return loaded;
    }

    private Tracer tracer() {
        return Objects.requireNonNull(tracer, "load comes first");
    }

    @Override
    public void poll(Duration patience) {
        tracer().poll(patience, this::print);
    }

    @Override
    public boolean isFull() {
        OptionalLong most = options.count();
        return most.isPresent() && events >= most.getAsLong();
    }

    @Override
    public void finish(List<String> gaps) {
        tracer().drain(this::print);
        summary(tracer().lost(), tracer().unknown(), gaps);
    }

    private void print(TraceEvent event, TracedProbe probe) {
        if (isFull()) {
            return;
        }
        events++;
        console.line(options.target().json() ? format.json(event, probe) : format.human(event, probe));
    }

    private void summary(long lost, long unknown, List<String> gaps) {
        if (options.target().json()) {
            JsonLine line = new JsonLine().beginObject().field("events", events).field("lost", lost);
            if (unknown > 0) {
                line.field("unknown", unknown);
            }
            if (options.target().filesMayAppear()) {
                line.field("exact", gaps.isEmpty());
                if (!gaps.isEmpty()) {
                    line.field("reason", String.join("; ", gaps));
                }
            }
            console.line(line.endObject().toString());
        } else {
            console.line(Scans.count(events, "event") + ", " + lost + " lost"
                    + (unknown > 0 ? ", " + unknown + " of no known probe" : "")
                    + (gaps.isEmpty()
                            ? ""
                            : "; the first milliseconds of new code may be missing: " + String.join("; ", gaps)));
        }
        console.flush();
    }
}
