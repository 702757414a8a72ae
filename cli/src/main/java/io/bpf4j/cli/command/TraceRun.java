package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.trace.ChildCommand;
import io.bpf4j.cli.trace.Detachment;
import io.bpf4j.cli.trace.EventFormat;
import io.bpf4j.cli.trace.Follower;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.cli.trace.TraceEvent;
import io.bpf4j.cli.trace.TracedProbe;
import io.bpf4j.cli.trace.Tracer;
import io.bpf4j.loader.host.Host;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.UsdtWatch;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One run of {@code trace}: attaches, prints events until it is over, detaches, and prints the sums. <i>Confined.</i>
 *
 * <p>Tested by {@code CliTraceTest} and {@code CliStrategyTest}.
 */
final class TraceRun {
    /** Room for the probes of libraries that a command loads later. */
    private static final int SPECS_OF_LATER_FILES = 4096;

    /** How long to wait for events before looking whether it is time to end. */
    private static final Duration PATIENCE = Duration.ofMillis(20);

    private final Console console;
    private final Interruption interruption;
    private final TraceOptions options;
    private final TraceSelection selection;
    private final EventFormat format = EventFormat.create();

    private long events;
    private volatile boolean attachedAny;

    /** How often probes that appeared could not be attached. */
    private final AtomicInteger notAttached = new AtomicInteger();

    TraceRun(Console console, Interruption interruption, TraceOptions options) {
        this.console = console;
        this.interruption = interruption;
        this.options = options;
        this.selection = new TraceSelection(console, options);
    }

    /**
     * Traces until it is over, and prints the sums.
     *
     * @param child the command that is traced, not running yet; null for what runs already
     * @throws CommandException if there was nothing to trace
     */
    void run(List<UsdtScan> scans, @Nullable ChildCommand child) {
        boolean appearing = options.filesMayAppear();
        List<UsdtProbe> probes = selection.of(scans);
        int sites = probes.stream().mapToInt(p -> p.sites().size()).sum();
        try (Tracer tracer = Tracer.load(
                options.strings(),
                sites + (appearing ? SPECS_OF_LATER_FILES : 0),
                options.strategy(),
                options.strict())) {
            interruption.onRequest(tracer::wakeup);
            List<String> gaps = List.of();
            if (appearing) {
                gaps = follow(tracer, probes, child);
            } else {
                report(tracer.attach(probes, options.process()));
                poll(tracer, this::isThere);
            }
            Detachment.await(tracer.detach(), console, interruption);
            tracer.drain(this::print);
            summary(tracer.lost(), tracer.unknown(), gaps);
            if (appearing && !attachedAny) {
                throw new CommandException("neither "
                        + (child == null ? "process " + options.process().orElseThrow() : "the command")
                        + " nor a library that it loaded has a probe "
                        + String.join(
                                " or ",
                                options.patterns().stream()
                                        .map(ProbePattern::toString)
                                        .toList()));
            }
            if (appearing) {
                selection
                        .unmatched()
                        .forEach(pattern -> console.error("bpf4j: no file that was traced has a probe " + pattern));
            }
        }
    }

    /**
     * Traces a process and what appears in it, and perhaps in its children.
     *
     * @return why first events may be missing; empty if none is
     */
    private List<String> follow(Tracer tracer, List<UsdtProbe> first, @Nullable ChildCommand child) {
        Follower follower = new Follower(tracer, selection.ofLater(first), this::report, this::notAttached);
        UsdtWatch.Builder what = child != null
                ? UsdtWatch.of(child.pid()).fromExec()
                : UsdtWatch.of(options.process().orElseThrow());
        UsdtWatch.Builder followed = options.follow() ? what.withChildren() : what;
        try (UsdtWatch watch = (options.hold() ? followed : followed.withoutHolding()).start(follower)) {
            if (child != null) {
                if (!watch.gaps().isEmpty() && !first.isEmpty()) {
                    // Not held at its exec: what is attached to the process before then is there when it maps the file.
                    follower.attach(child.pid(), first);
                }
                child.resume();
            }
            poll(tracer, () -> (child == null || options.follow()) ? watch.isAlive() : child.isAlive());
            List<String> gaps = new ArrayList<>(watch.gaps());
            int failed = notAttached.get();
            if (failed > 0) {
                gaps.add(Scans.count(failed, "time") + " probes that appeared could not be attached");
            }
            return gaps;
        }
    }

    private void notAttached(String why) {
        notAttached.incrementAndGet();
        console.error("bpf4j: " + why);
    }

    /** Prints events until it is time to end, or {@code goesOn} says that there will be no more. */
    private void poll(Tracer tracer, BooleanSupplier goesOn) {
        OptionalLong most = options.duration();
        long end = most.isPresent() ? System.nanoTime() + most.getAsLong() : Long.MAX_VALUE;
        while (!isOver(end) && goesOn.getAsBoolean()) {
            long left = end - System.nanoTime();
            tracer.poll(left < PATIENCE.toNanos() ? Duration.ofNanos(Math.max(0, left)) : PATIENCE, this::print);
            console.flush();
        }
    }

    private boolean isOver(long end) {
        return interruption.requested() || isFull() || System.nanoTime() >= end;
    }

    private boolean isFull() {
        OptionalLong most = options.count();
        return most.isPresent() && events >= most.getAsLong();
    }

    /** A trace of one process ends with it. */
    private boolean isThere() {
        OptionalInt process = options.process();
        return process.isEmpty() || Files.isDirectory(Host.running().process(process.getAsInt()));
    }

    /** Writes to standard error, so that standard output has only events and can be piped into another program. */
    private void report(UsdtLink link) {
        attachedAny = true;
        console.error("bpf4j: tracing "
                + Scans.count(
                        link.probes().stream()
                                .map(UsdtProbe::fullName)
                                .distinct()
                                .count(),
                        "probe") + " at " + Scans.count(link.siteCount(), "site") + "; Ctrl-C ends");
        if (options.verbose()) {
            console.error("bpf4j: strategy " + link.strategy() + ", " + Scans.count(link.specCount(), "argument spec"));
            link.reasons().forEach(reason -> console.error("bpf4j: " + reason));
        }
        // Arguments that can't be read show as such in each event; sites and files that don't fire show in nothing.
        List<String> problems = options.verbose()
                ? link.problems()
                : Stream.concat(problemsOfSites(link).stream(), link.notMapped().stream())
                        .toList();
        problems.forEach(problem -> console.error("bpf4j: " + problem));
    }

    private static List<String> problemsOfSites(UsdtLink link) {
        return link.probes().stream()
                .flatMap(probe ->
                        probe.problems().stream().map(problem -> probe.binary().name() + ": " + problem))
                .distinct()
                .toList();
    }

    private void print(TraceEvent event, TracedProbe probe) {
        if (isFull()) {
            return;
        }
        events++;
        console.line(options.json() ? format.json(event, probe) : format.human(event, probe));
    }

    private void summary(long lost, long unknown, List<String> gaps) {
        if (options.json()) {
            JsonLine line = new JsonLine().beginObject().field("events", events).field("lost", lost);
            if (unknown > 0) {
                line.field("unknown", unknown);
            }
            if (options.filesMayAppear()) {
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
