package io.bpf4j.loader;

import io.bpf4j.loader.internal.log.LogFormat;
import io.bpf4j.loader.internal.log.LogFormats;
import io.bpf4j.loader.map.Global;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.loader.spec.ObjectSpec;
import java.lang.System.Logger;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * The log of an object's programs: lines that they write by {@code bpf4j_log} of {@code bpf4j/log.h} (Linux 5.8).
 *
 * <pre>{@code
 * bpf4j_log(BPF4J_LOG_WARN, "%s sends %llu bytes to %pI4", comm, bytes, address);     // the program
 *
 * try (ProgramLog log = ProgramLog.open(object)) {
 *     while (running) {
 *         log.poll(Duration.ofSeconds(1), System.getLogger("my.programs"));
 *     }
 * }
 * }</pre>
 *
 * <p>A program writes numbers, and this makes the text. Levels are filtered by the program: {@link #setLevel} changes
 * what it writes at any time. What a record contains never makes reading fail; a record that is no line is counted by
 * {@link #malformed}.
 *
 * <p><i>Single consumer</i>, as {@link RingBuffer}: one thread at a time polls; the other methods may be called from any
 * thread. It must be closed; the object still belongs to its owner, and must stay open until then.
 *
 * <p>Tested by {@code ProgramLogOnKernelTest}.
 */
public final class ProgramLog implements AutoCloseable {
    private static final String RING = "bpf4j_log_ring";
    private static final String LEVEL = "bpf4j_log_level";
    private static final String LOST = "bpf4j_log_lost";

    private final LogFormats formats;
    private final Global level;
    private final Global lost;
    private final RingBuffer ring;
    private volatile long malformed;

    /**
     * A line.
     *
     * @param level {@link Logger.Level#ERROR} to {@link Logger.Level#TRACE}
     * @param function the C function that wrote it, a program or one that a program calls; its first 15 bytes
     * @param cpu the number of the CPU
     * @param nanos when it was written, in nanoseconds of CLOCK_MONOTONIC, as {@link System#nanoTime} has them on Linux
     * @param text without a newline at its end; control characters in its arguments, and marks that change the
     *     direction of text, are shown as {@code \x0a} or by their number
     */
    public record Line(Logger.Level level, String function, int cpu, long nanos, String text) {}

    private ProgramLog(LogFormats formats, Global level, Global lost, RingBuffer ring) {
        this.formats = formats;
        this.level = level;
        this.lost = lost;
        this.ring = ring;
    }

    /**
     * Checks the formats of an object before it is loaded; {@link #open} does so, too.
     *
     * @throws io.bpf4j.loader.error.InvalidObjectException if a format can't be read or does not fit its arguments; the
     *     message has the format
     */
    public static void check(ObjectSpec object) {
        LogFormats.of(object);
    }

    /**
     * Starts to read.
     *
     * @throws io.bpf4j.loader.error.InvalidObjectException if no program of the object calls {@code bpf4j_log}, or a
     *     format is wrong
     */
    public static ProgramLog open(BpfObject object) {
        return new ProgramLog(
                LogFormats.of(object.spec()),
                object.global(LEVEL),
                object.global(LOST),
                RingBuffer.open(object.map(RING)));
    }

    /**
     * Passes the lines that wait to the handler; if there are none, waits for some first.
     *
     * @param timeout how long to wait at most; zero or less not at all
     * @return number of records, malformed ones included; 0 after the timeout, an interrupt of this thread, {@link
     *     #wakeup} or {@link #close}
     * @throws IllegalStateException if closed, or if another thread is polling
     */
    public int poll(Duration timeout, Consumer<? super Line> handler) {
        return ring.poll(timeout, (_, data, offset, size) -> onRecord(data, offset, size, handler));
    }

    /** {@link #poll(Duration, Consumer)} with a line of a logger for each: {@code FUNCTION, CPU 3: TEXT}. */
    public int poll(Duration timeout, Logger logger) {
        return poll(
                timeout,
                (Line line) ->
                        logger.log(line.level(), () -> line.function() + ", CPU " + line.cpu() + ": " + line.text()));
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one consumer
    private void onRecord(MemorySegment data, long offset, int size, Consumer<? super Line> handler) {
        LogFormat format = size < LogFormat.ARGUMENTS
                ? null
                : formats.get(data.get(ValueLayout.JAVA_INT_UNALIGNED, offset + LogFormat.NUMBER));
        if (format == null || size != format.size()) {
            malformed++;
            return;
        }
        handler.accept(new Line(
                level(format.level()),
                LogFormat.function(data, offset),
                data.get(ValueLayout.JAVA_INT_UNALIGNED, offset + LogFormat.CPU),
                data.get(ValueLayout.JAVA_LONG_UNALIGNED, offset + LogFormat.TIME),
                format.line(data, offset)));
    }

    /** The numbers are those of {@code bpf4j/log.h}. */
    private static Logger.Level level(int number) {
        return switch (number) {
            case 1 -> Logger.Level.ERROR;
            case 2 -> Logger.Level.WARNING;
            case 3 -> Logger.Level.INFO;
            case 4 -> Logger.Level.DEBUG;
            default -> Logger.Level.TRACE;
        };
    }

    /**
     * Sets the level: programs write its lines and more important ones. It is INFO after the load, unless {@code
     * BpfLoader.global("bpf4j_log_level", …)} says otherwise.
     *
     * @param lowest {@link Logger.Level#OFF} for none, {@link Logger.Level#ALL} for all
     */
    public void setLevel(Logger.Level lowest) {
        level.setInt(
                switch (lowest) {
                    case OFF -> 0;
                    case ERROR -> 1;
                    case WARNING -> 2;
                    case INFO -> 3;
                    case DEBUG -> 4;
                    case TRACE, ALL -> 5;
                });
    }

    /** The number of lines that found the ring buffer full. */
    public long lost() {
        return lost.getLong();
    }

    /** The number of records that were no lines: of another size, or with the number of no format. */
    public long malformed() {
        return malformed;
    }

    /** Ends the current wait of a poll at once, or else the next one. */
    public void wakeup() {
        ring.wakeup();
    }

    /** Releases the ring buffer, as {@link RingBuffer#close}. A second call does nothing. */
    @Override
    public void close() {
        ring.close();
    }
}
