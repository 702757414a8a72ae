package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.EndRecord;
import io.bpf4j.cli.output.LineBuffer;
import io.bpf4j.cli.question.UserCatalog;
import io.bpf4j.cli.trace.EventFormat;
import io.bpf4j.cli.trace.ProbeSession;
import io.bpf4j.cli.trace.StringArg;
import io.bpf4j.cli.trace.TraceEvent;
import io.bpf4j.cli.trace.TracedProbe;
import io.bpf4j.cli.trace.Tracer;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.catalog.ArgumentType;
import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.trace.catalog.ProbeArgument;
import io.bpf4j.trace.catalog.ProbeSignature;
import io.bpf4j.usdt.UsdtProbe;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
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
    private @Nullable Tracer tracer;
    private long events;

    TraceRun(Console console, TraceOptions options) {
        this.console = console;
        this.options = options;
        this.format = EventFormat.create(options.target().json(), lines);
    }

    @Override
    public ProbeSession load(List<UsdtProbe> probes, List<FunctionProbe> functions, int specs) throws IOException {
        Catalog catalog = UserCatalog.read();
        TargetOptions target = options.target();
        options.checkPauses();
        Tracer loaded = Tracer.load(
                new Tracer.Options(
                        options.strings().isEmpty() ? known(probes, catalog) : options.strings(),
                        target.strategy(),
                        target.strict(),
                        options.bufferBytes(),
                        options.lossless()),
                specs,
                catalog);
        tracer = loaded;
        return loaded;
    }

    /** The arguments that are text in the catalog. The tracer reads an argument in the same way for all probes. */
    private List<StringArg> known(List<UsdtProbe> probes, Catalog catalog) {
        Map<Integer, Set<Optional<StringArg>>> byArgument = new TreeMap<>();
        for (UsdtProbe probe : probes) {
            int count = probe.sites().stream()
                    .mapToInt(site -> site.args().size())
                    .max()
                    .orElse(0);
            Optional<ProbeSignature> signature = catalog.find(probe.provider(), probe.name(), count);
            for (int n = 0; n < count; n++) {
                add(byArgument, n, signature);
            }
        }
        if (options.target().filesMayAppear()) {
            options.target().patterns().stream()
                    .flatMap(pattern -> catalog.matching(pattern).stream())
                    .forEach(probe -> probe.arguments()
                            .forEach(argument -> add(byArgument, argument.index(), Optional.of(probe))));
        }
        return byArgument.values().stream()
                .filter(kinds -> kinds.size() == 1)
                .flatMap(Set::stream)
                .flatMap(Optional::stream)
                .toList();
    }

    private static void add(
            Map<Integer, Set<Optional<StringArg>>> byArgument, int n, Optional<ProbeSignature> signature) {
        byArgument
                .computeIfAbsent(n, _ -> new HashSet<>())
                .add(signature.flatMap(probe -> n < probe.arguments().size()
                        ? text(probe, probe.arguments().get(n))
                        : Optional.empty()));
    }

    private static Optional<StringArg> text(ProbeSignature probe, ProbeArgument argument) {
        return argument.type() instanceof ArgumentType.Text text
                        && text.pointerAt().isEmpty()
                ? Optional.of(new StringArg(
                        argument.index(),
                        text.length()
                                .flatMap(probe::argument)
                                .map(ProbeArgument::index)
                                .orElse(StringArg.ZERO_TERMINATED)))
                : Optional.empty();
    }

    private Tracer tracer() {
        return Objects.requireNonNull(tracer, "load comes first");
    }

    @Override
    public void poll(Duration patience) {
        tracer().poll(patience, this::print);
        console.lines(lines);
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
    public boolean hasEvents() {
        return events > 0;
    }

    @Override
    public void finish(List<String> gaps) {
        tracer().drain(this::print);
        console.lines(lines);
        TraceOptions.stillPaused(console, tracer().stuck());
        summary(tracer().lost(), tracer().unknown(), gaps);
    }

    private void print(TraceEvent event, TracedProbe probe) {
        if (isFull()) {
            return;
        }
        events++;
        format.write(event, probe);
        if (lines.size() >= LineBuffer.FULL) {
            console.lines(lines);
        }
    }

    private void summary(long lost, long unknown, List<String> gaps) {
        if (options.target().json()) {
            console.line(new EndRecord(events, lost)
                    .because(gaps)
                    .lacking("unknown", unknown, OF_NO_KNOWN_PROBE)
                    .json(console.remarks()));
        } else {
            console.line(Scans.count(events, "event") + ", " + lost + " lost"
                    + (unknown > 0 ? ", " + unknown + " " + OF_NO_KNOWN_PROBE : "")
                    + (gaps.isEmpty() ? "" : "; not exact: " + String.join("; ", gaps)));
        }
        console.flush();
    }
}
