package io.bpf4j.cli.trace;

import io.bpf4j.cli.output.LineBuffer;
import io.bpf4j.cli.output.Text;
import io.bpf4j.trace.event.ProbeEvent;
import io.bpf4j.trace.event.TracedProbe;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.IdentityHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Writes events as lines of text or of JSON, at a rate of millions a second: from the bytes of the record to the bytes
 * of the line, without an object for an event. Text that is expensive to make is made once and kept as bytes: the names
 * of a probe, the numbers and the name of a thread, the time up to the second. Only text that needs escapes, and
 * floating-point numbers, become strings.
 *
 * <p>Events have a timestamp of CLOCK_MONOTONIC; {@code System.nanoTime} reads the same clock on Linux, so reading both
 * clocks once gives the wall-clock time of every event. Setting the clock during the trace doesn't affect the times.
 * <i>Confined.</i>
 */
public final class EventFormat {
    private static final DateTimeFormatter TIME_OF_DAY = DateTimeFormatter.ofPattern("HH:mm:ss");
    private static final long SECOND = 1_000_000_000;
    private static final int MILLION = 1_000_000;
    private static final int THREAD_WIDTH = 15;

    private static final byte[] ADDRESS = encode("? at ");
    private static final byte[] TEXT_CUT = encode("\"...");
    private static final byte[] JSON_TIME = encode("{\"type\":\"event\",\"time\":\"");
    private static final byte[] JSON_NS = encode("Z\",\"ns\":");
    private static final byte[] JSON_NULL = encode("null");
    private static final byte[] JSON_TRUNCATED = encode(",\"truncated\":[");
    private static final byte[] JSON_UNREADABLE = encode(",\"unreadable\":[");
    private static final byte[] JSON_ARG = encode("{\"arg\":");
    private static final byte[] JSON_ADDRESS = encode(",\"address\":");

    /** The wall-clock time at which CLOCK_MONOTONIC was 0. */
    private final Instant origin;

    private final ZoneId zone;
    private final boolean json;
    private final LineBuffer line;
    private final UnaryOperator<String> escape;
    private final ThreadNames threads;
    private final IdentityHashMap<TracedProbe, ProbeFormat> probes = new IdentityHashMap<>();
    private @Nullable ProbeFormat last;

    /** The time of the last event up to its second, and when that second started, in nanoseconds of CLOCK_MONOTONIC. */
    private byte[] second = {};

    private long secondStart = Long.MIN_VALUE;

    EventFormat(Instant origin, ZoneId zone, boolean json, LineBuffer line) {
        this.origin = origin;
        this.zone = zone;
        this.json = json;
        this.line = line;
        this.escape = json ? Text::jsonEscape : Text::escape;
        this.threads = new ThreadNames(
                json ? EventFormat::jsonThread : (pid, tid, comm) -> encode(textThread(pid, tid, comm)));
    }

    /**
     * A format for events of this machine since its boot.
     *
     * @param json whether lines are JSON
     * @param lines the buffer to which lines are appended
     */
    public static EventFormat create(boolean json, LineBuffer lines) {
        return new EventFormat(
                Clock.systemUTC().instant().minusNanos(System.nanoTime()), ZoneId.systemDefault(), json, lines);
    }

    private static byte[] encode(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] jsonThread(int pid, int tid, String comm) {
        return encode(",\"pid\":" + pid + ",\"tid\":" + tid + ",\"comm\":\"" + Text.jsonEscape(comm) + '"');
    }

    private static String textThread(int pid, int tid, String comm) {
        return "  " + column(pid + "/" + tid) + column(Text.escape(comm));
    }

    private static String column(String cell) {
        return cell + " ".repeat(Math.max(0, THREAD_WIDTH - cell.length()) + 2);
    }

    /** Appends the line of an event, with its line feed. */
    @SuppressWarnings("ReferenceEquality") // usually the same object as for the last event
    public void write(ProbeEvent event, TracedProbe probe) {
        ProbeFormat format = last;
        if (format == null || format.probe != probe) {
            format = probes.computeIfAbsent(probe, ProbeFormat::new);
            last = format;
        }
        if (json) {
            json(event, format);
        } else {
            text(event, format);
        }
        line.append('\n');
    }

    /**
     * Writes {@code 22:31:05.123456 4711/4712 java hotspot:gc__begin full=false}, in columns. Arguments that the
     * catalog does not have are {@code arg0} and so on.
     */
    private void text(ProbeEvent event, ProbeFormat probe) {
        int micros = nanosOfSecond(event.timeNs()) / 1000;
        line.append(second).append('.').fixed(micros, 6).append(threads.of(event));
        boolean first = true;
        for (int n = 0; n < event.argCount(); n++) {
            ProbeFormat.Argument argument = probe.argument(n);
            if ((argument.lengthOf & event.texts()) != 0) {
                continue;
            }
            if (first) {
                line.append(probe.id);
                first = false;
            } else {
                line.append(' ');
            }
            line.append(argument.label);
            switch (event.form(n)) {
                case NUMBER -> argument.write(line, event.bits(n));
                case TEXT -> {
                    line.append('"');
                    appendText(event, n);
                    if ((event.truncated() >>> n & 1) != 0) {
                        line.append(TEXT_CUT);
                    } else {
                        line.append('"');
                    }
                }
                case NO_TEXT -> {
                    if (argument.isNumber()) {
                        argument.write(line, event.bits(n));
                    } else {
                        line.append(ADDRESS).hex(event.bits(n));
                    }
                }
                case UNREADABLE -> line.append('?');
            }
        }
        if (first) {
            line.append(probe.idAtEnd);
        }
    }

    /** The wall-clock time of an event, by its nanoseconds of CLOCK_MONOTONIC. */
    public Instant time(long timeNs) {
        return origin.plusNanos(timeNs);
    }

    /**
     * The columns of a line of text before the arguments, for an event that is not a record of the tracer.
     *
     * @param timeNs nanoseconds of CLOCK_MONOTONIC
     * @param probe {@code provider:name}
     */
    public String columns(long timeNs, int pid, int tid, String comm, String probe) {
        int micros = nanosOfSecond(timeNs) / 1000;
        return new String(second, StandardCharsets.UTF_8)
                + '.'
                + Integer.toString(MILLION + micros).substring(1)
                + textThread(pid, tid, comm)
                + ProbeFormat.column(Text.printable(probe));
    }

    /**
     * Writes {@code {"type","time","ns","pid","tid","comm","probe","path","provider","name","args":[…]}}. An argument that
     * could not be read is null. If present, {@code "truncated"} lists the arguments whose text was longer than the
     * kept part, and {@code "unreadable"} has {@code {"arg","address"}} for arguments whose address does not point to
     * readable text.
     */
    private void json(ProbeEvent event, ProbeFormat probe) {
        int nanos = nanosOfSecond(event.timeNs());
        line.append(JSON_TIME).append(second);
        appendFraction(nanos);
        line.append(JSON_NS).decimal(event.timeNs());
        line.append(threads.of(event)).append(probe.json);
        int unreadable = 0;
        for (int n = 0; n < event.argCount(); n++) {
            if (n > 0) {
                line.append(',');
            }
            switch (event.form(n)) {
                case NUMBER -> probe.argument(n).writeJson(line, event.bits(n));
                case TEXT -> {
                    line.append('"');
                    appendText(event, n);
                    line.append('"');
                }
                case NO_TEXT -> {
                    if (probe.argument(n).isNumber()) {
                        probe.argument(n).writeJson(line, event.bits(n));
                    } else {
                        line.append(JSON_NULL);
                        unreadable |= 1 << n;
                    }
                }
                case UNREADABLE -> line.append(JSON_NULL);
            }
        }
        line.append(']');
        if (event.truncated() != 0) {
            appendNumbers(event.truncated());
        }
        if (unreadable != 0) {
            appendAddresses(event, unreadable);
        }
        line.append('}');
    }

    /** Appends the numbers of the set bits, separated by commas. */
    private void appendNumbers(int bits) {
        line.append(JSON_TRUNCATED);
        for (int rest = bits; rest != 0; rest &= rest - 1) {
            if (rest != bits) {
                line.append(',');
            }
            line.decimal(Integer.numberOfTrailingZeros(rest));
        }
        line.append(']');
    }

    private void appendAddresses(ProbeEvent event, int bits) {
        line.append(JSON_UNREADABLE);
        for (int rest = bits; rest != 0; rest &= rest - 1) {
            if (rest != bits) {
                line.append(',');
            }
            int n = Integer.numberOfTrailingZeros(rest);
            line.append(JSON_ARG)
                    .decimal(n)
                    .append(JSON_ADDRESS)
                    .unsigned(event.bits(n))
                    .append('}');
        }
        line.append(']');
    }

    private void appendText(ProbeEvent event, int n) {
        if (!line.appendPlain(event.data(), event.textStart(n), event.textLength(n))) {
            line.append(escape.apply(Text.decode(event.text(n))));
        }
    }

    /** Appends a fraction of 0, 3, 6 or 9 digits, as {@link Instant#toString} does. */
    private void appendFraction(int nanos) {
        if (nanos == 0) {
            return;
        }
        line.append('.');
        if (nanos % 1_000_000 == 0) {
            line.fixed(nanos / 1_000_000, 3);
        } else if (nanos % 1000 == 0) {
            line.fixed(nanos / 1000, 6);
        } else {
            line.fixed(nanos, 9);
        }
    }

    /** The nanoseconds since the start of the event's second. Sets {@link #second} to that second. */
    private int nanosOfSecond(long timeNs) {
        long nanos = timeNs - secondStart;
        if (nanos >= 0 && nanos < SECOND) {
            return (int) nanos;
        }
        Instant time = time(timeNs);
        Instant start = time.truncatedTo(ChronoUnit.SECONDS);
        nanos = start.until(time, ChronoUnit.NANOS);
        secondStart = timeNs - nanos;
        second = encode(json ? start.toString().replace("Z", "") : TIME_OF_DAY.format(start.atZone(zone)));
        return (int) nanos;
    }
}
