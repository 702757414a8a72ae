package io.bpf4j.cli.command;

import io.bpf4j.cli.demo.DemoJvm;
import io.bpf4j.cli.demo.DemoSummary;
import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.LineBuffer;
import io.bpf4j.cli.trace.Detachment;
import io.bpf4j.cli.trace.EventFormat;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.trace.EventStream;
import io.bpf4j.trace.Question;
import io.bpf4j.trace.event.TextArgument;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Starts a small JVM and traces its garbage collections, class loading and threads.
 *
 * <p>Tested by {@code CliTraceTest}.
 */
@Command(
        name = "demo",
        description = {
            "Starts a small JVM of its own, traces its garbage collections, class loading and threads, and ends.",
            "Needs root, or CAP_BPF and CAP_PERFMON."
        },
        footer = {"  bpf4j demo", "  bpf4j demo --seconds 10 --json"})
final class DemoCommand implements Callable<Integer> {
    private static final Duration PATIENCE = Duration.ofMillis(100);
    private static final int MAX_SECONDS = 10;

    private static final List<ProbePattern> PROBES = Stream.of(
                    "hotspot:gc__begin",
                    "hotspot:gc__end",
                    "hotspot:class__loaded",
                    "hotspot:thread__start",
                    "hotspot:thread__stop")
            .map(ProbePattern::parse)
            .toList();

    /** HotSpot passes a name as its address and its length: class__loaded and thread__start begin with these two. */
    private static final TextArgument NAMES = new TextArgument(0, 1);

    private final Console console;
    private final Interruption interruption;
    private final LineBuffer lines = new LineBuffer();

    @Option(
            names = "--seconds",
            paramLabel = "N",
            description = "How long the JVM works, in seconds, 1 to 10 (default: ${DEFAULT-VALUE}).")
    private int seconds = 5;

    @Option(names = "--json", description = "One JSON object for each event, then the summary.")
    private boolean json;

    DemoCommand(Console console, Interruption interruption) {
        this.console = console;
        this.interruption = interruption;
    }

    @Override
    public Integer call() throws IOException {
        if (seconds < 1 || seconds > MAX_SECONDS) {
            throw new UsageException("--seconds takes 1 to " + MAX_SECONDS);
        }
        UsdtScan library = UsdtScan.ofFile(DemoJvm.library()).matching(PROBES);
        List<UsdtProbe> probes = library.probes();
        if (probes.isEmpty()) {
            throw new CommandException(library.whyNone());
        }
        DemoSummary summary = new DemoSummary(probes);
        EventFormat format = EventFormat.create(json, lines);
        EventStream.Handler print = (event, probe) -> {
            summary.add(probe, event.timeNs());
            format.write(event, probe);
        };
        try (EventStream events = Question.on(probes).withTexts(NAMES).loadEvents();
                DemoJvm jvm = DemoJvm.start(Duration.ofSeconds(seconds))) {
            interruption.onRequest(events::wakeup);
            interruption.alsoEnds(jvm::close);
            interruption.whenBlocked(console, () -> "what follows is lost");
            UsdtLink link = events.attach(probes, OptionalInt.of(jvm.pid()));
            console.error("bpf4j: tracing " + Scans.count(probes.size(), "probe") + " at "
                    + Scans.count(link.siteCount(), "site") + " of the JVM with process ID " + jvm.pid() + ", for "
                    + Scans.count(seconds, "second"));
            jvm.go();
            while (jvm.isAlive() && !interruption.requested()) {
                events.poll(PATIENCE, print);
                console.lines(lines);
            }
            Detachment.await(events.detach(), console, interruption, () -> {});
            events.drain(print);
            console.lines(lines);
            summary.lost(events.lost());
            summary.unknown(events.unknown());
        }
        print(summary);
        return CommandTree.OK;
    }

    private void print(DemoSummary summary) {
        if (json) {
            summary.json().forEach(console::line);
            return;
        }
        console.line("");
        summary.table().print(console);
        console.line(summary.pauses());
        console.line(summary.total());
    }
}
