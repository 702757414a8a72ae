package io.bpf4j.cli.trace;

import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.Text;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;

/**
 * An event as a line of text or of JSON.
 *
 * <p>Events have a timestamp of CLOCK_MONOTONIC; {@code System.nanoTime} reads the same clock on Linux, so reading both
 * clocks once gives the wall-clock time of every event. Setting the clock during the trace doesn't affect the times.
 * <i>Immutable.</i>
 */
public final class EventFormat {
    private static final DateTimeFormatter TIME_OF_DAY = DateTimeFormatter.ofPattern("HH:mm:ss.SSSSSS");

    /** The wall-clock time at which CLOCK_MONOTONIC was 0. */
    private final Instant origin;

    private final ZoneId zone;

    EventFormat(Instant origin, ZoneId zone) {
        this.origin = origin;
        this.zone = zone;
    }

    /** A format for events of this machine since its boot. */
    public static EventFormat create() {
        return new EventFormat(Clock.systemUTC().instant().minusNanos(System.nanoTime()), ZoneId.systemDefault());
    }

    /**
     * {@code 22:31:05.123456 4711/4712 java hotspot:gc__begin full=false}, in columns; arguments that the catalog does
     * not know are {@code arg0} and so on.
     */
    public String human(TraceEvent event, TracedProbe probe) {
        StringBuilder line = new StringBuilder(96);
        line.append(TIME_OF_DAY.format(time(event).atZone(zone))).append("  ");
        pad(line, event.pid() + "/" + event.tid(), 15);
        pad(line, Text.escape(event.comm()), 15);
        pad(line, Text.printable(probe.id()), 24);
        String blank = "";
        for (int n = 0; n < event.args().size(); n++) {
            if (isShownByText(event, probe, n)) {
                continue;
            }
            line.append(blank).append(probe.argument(n)).append('=');
            blank = " ";
            line.append(
                    switch (event.args().get(n)) {
                        case TraceEvent.Num(long bits) -> probe.text(n, bits);
                        case TraceEvent.Str(String text, boolean truncated) ->
                            '"' + Text.escape(text) + (truncated ? "\"..." : "\"");
                        case TraceEvent.NoText(long address) -> "? at 0x" + Long.toHexString(address);
                        case TraceEvent.Unreadable() -> "?";
                    });
        }
        return line.toString().stripTrailing();
    }

    /**
     * {@code {"type","time","ns","pid","tid","comm","path","provider","name","args":[…]}}; an argument that could not be read is
     * null. If present, {@code "truncated"} lists the arguments whose text was longer than the kept part, and {@code
     * "unreadable"} has {@code {"arg","address"}} for arguments whose address does not point to readable text.
     */
    public String json(TraceEvent event, TracedProbe probe) {
        JsonLine line = new JsonLine()
                .beginObject()
                .field("type", "event")
                .field("time", time(event).toString())
                .field("ns", event.timeNs())
                .field("pid", event.pid())
                .field("tid", event.tid())
                .field("comm", event.comm())
                .field("path", probe.path())
                .field("provider", probe.provider())
                .field("name", probe.name());
        line.key("args").beginArray();
        boolean anyTruncated = false;
        boolean anyUnreadable = false;
        for (int n = 0; n < event.args().size(); n++) {
            switch (event.args().get(n)) {
                case TraceEvent.Num(long bits) -> probe.kind(n).write(line, bits);
                case TraceEvent.Str(String text, boolean truncated) -> {
                    line.value(text);
                    anyTruncated |= truncated;
                }
                case TraceEvent.NoText _ -> {
                    line.value((String) null);
                    anyUnreadable = true;
                }
                case TraceEvent.Unreadable() -> line.value((String) null);
            }
        }
        line.endArray();
        if (anyTruncated) {
            line.key("truncated").beginArray();
            for (int n = 0; n < event.args().size(); n++) {
                if (event.args().get(n) instanceof TraceEvent.Str(String _, boolean truncated) && truncated) {
                    line.value(n);
                }
            }
            line.endArray();
        }
        if (anyUnreadable) {
            line.key("unreadable").beginArray();
            for (int n = 0; n < event.args().size(); n++) {
                if (event.args().get(n) instanceof TraceEvent.NoText(long address)) {
                    line.beginObject()
                            .field("arg", n)
                            .unsignedField("address", address)
                            .endObject();
                }
            }
            line.endArray();
        }
        return line.endObject().toString();
    }

    /** The length of a text that is shown. */
    private static boolean isShownByText(TraceEvent event, TracedProbe probe, int n) {
        for (int pointer = 0; pointer < event.args().size(); pointer++) {
            if (event.args().get(pointer) instanceof TraceEvent.Str && probe.isLengthOf(n, pointer)) {
                return true;
            }
        }
        return false;
    }

    private Instant time(TraceEvent event) {
        return origin.plusNanos(event.timeNs());
    }

    private static void pad(StringBuilder line, String cell, int width) {
        line.append(cell).repeat(' ', Math.max(0, width - cell.length()) + 2);
    }
}
