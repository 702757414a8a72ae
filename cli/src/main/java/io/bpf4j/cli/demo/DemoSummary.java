package io.bpf4j.cli.demo;

import io.bpf4j.cli.output.EndRecord;
import io.bpf4j.cli.output.Records;
import io.bpf4j.cli.output.Table;
import io.bpf4j.trace.event.TracedProbe;
import io.bpf4j.usdt.UsdtProbe;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The summary of the demo: events by probe, and the durations of collections. <i>Confined.</i> */
public final class DemoSummary {
    private final Map<String, Long> counts = new LinkedHashMap<>();
    private long lost;
    private long unknown;

    /** The start of the running collection, in nanoseconds of CLOCK_MONOTONIC; 0 if none runs. */
    private long gcBegin;

    private long gcCount;
    private long gcNanos;
    private long gcLongest;

    /** A summary that shows all these probes, even those that don't fire. */
    public DemoSummary(List<UsdtProbe> probes) {
        probes.forEach(probe -> counts.put(probe.fullName(), 0L));
    }

    /** Adds an event. The time is in nanoseconds of CLOCK_MONOTONIC. */
    public void add(TracedProbe probe, long timeNs) {
        counts.merge(probe.id(), 1L, Long::sum);
        switch (probe.name()) {
            case "gc__begin" -> gcBegin = timeNs;
            case "gc__end" -> {
                if (gcBegin != 0) {
                    long pause = timeNs - gcBegin;
                    gcCount++;
                    gcNanos += pause;
                    gcLongest = Math.max(gcLongest, pause);
                    gcBegin = 0;
                }
            }
            default -> {}
        }
    }

    public void lost(long events) {
        lost = events;
    }

    /** The number of events that belong to no known probe. */
    public void unknown(long events) {
        unknown = events;
    }

    public Table table() {
        Table table = new Table("").row("PROBE", "EVENTS");
        counts.forEach((probe, count) -> table.row(probe, Long.toString(count)));
        return table;
    }

    /** The number and durations of the JVM's collections. */
    public String pauses() {
        return String.format(
                Locale.ROOT,
                "%d collections took %.1f ms in all, the longest %.1f ms",
                gcCount,
                gcNanos / 1e6,
                gcLongest / 1e6);
    }

    public String total() {
        return sum() + " events, " + lost + " lost" + (unknown > 0 ? ", " + unknown + " of no known probe" : "");
    }

    /**
     * A row for each probe, {@code {"type","key":{"probe"},"count"}}, and the end, with {@code "unknown"} if such
     * events exist.
     */
    public List<String> json() {
        List<String> lines = new ArrayList<>();
        counts.forEach((probe, count) -> lines.add(Records.begin("row")
                .key("key")
                .beginObject()
                .field("probe", probe)
                .endObject()
                .field("count", count)
                .endObject()
                .toString()));
        lines.add(new EndRecord(sum(), lost)
                .lacking("unknown", unknown, "of no known probe")
                .json(List.of()));
        return lines;
    }

    private long sum() {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }
}
