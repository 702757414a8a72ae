package io.bpf4j.cli.output;

import io.bpf4j.sys.Diagnostic;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The last record of an answer in JSON: how many events it has, whether some are missing and why, and the remarks that
 * the terminal showed. <i>Confined.</i>
 *
 * <p>Tested by {@code EndRecordTest} and {@code CliJsonTest}.
 */
public final class EndRecord {
    private final Map<String, Long> counts = new LinkedHashMap<>();
    private final List<String> reasons = new ArrayList<>();
    private final List<Remark> gaps = new ArrayList<>();
    private @Nullable AskedQuestion question;

    /**
     * The end of an answer about events.
     *
     * @param lost events that could not be shown, because the ring buffer was full
     */
    public EndRecord(long events, long lost) {
        counts.put("events", events);
        counts.put("lost", lost);
        if (lost > 0) {
            reasons.add(count(lost) + " not shown, because they came too fast");
        }
    }

    /**
     * Adds how many records of these types precede, unless there are none, so that a reader can detect missing ones.
     *
     * @param intervals records that end the rows of an interval
     * @param shown events that are shown besides being counted
     */
    public EndRecord after(long intervals, long shown) {
        return without("intervals", intervals).without("shown", shown);
    }

    private static String count(long events) {
        return events + (events == 1 ? " event" : " events");
    }

    /** Adds reasons why events are missing. */
    public EndRecord because(List<Diagnostic> diagnostics) {
        diagnostics.forEach(diagnostic -> {
            reasons.add(diagnostic.message());
            gaps.add(Remark.of(diagnostic));
        });
        return this;
    }

    /** Adds a number by its name in JSON, unless it is 0. The answer is exact nevertheless. */
    public EndRecord without(String name, long count) {
        if (count > 0) {
            counts.put(name, count);
        }
        return this;
    }

    /**
     * Adds a number of events that the answer lacks, unless it is 0, with the reason, whose words follow the number.
     */
    public EndRecord lacking(String name, long events, String reason) {
        if (events > 0) {
            reasons.add(count(events) + " " + reason);
        }
        return without(name, events);
    }

    /** Adds the question that is answered. */
    public EndRecord about(AskedQuestion asked) {
        question = asked;
        return this;
    }

    /** The record, in which {@code "reason"}, {@code "gaps"} and {@code "remarks"} are present if there are some. */
    public String json(List<Remark> remarks) {
        JsonLine line = Records.begin("end");
        counts.forEach(line::field);
        line.field("exact", reasons.isEmpty());
        if (!reasons.isEmpty()) {
            line.field("reason", String.join("; ", reasons));
        }
        Remark.json(line, "gaps", gaps);
        Remark.json(line, "remarks", remarks);
        AskedQuestion asked = question;
        if (asked != null) {
            asked.json(line);
        }
        return line.endObject().toString();
    }
}
