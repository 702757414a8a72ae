package io.bpf4j.trace;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.objects.BpfObjects;
import io.bpf4j.trace.event.ProbeEvent;
import io.bpf4j.trace.event.TextArgument;
import io.bpf4j.trace.event.TracedProbe;
import io.bpf4j.usdt.AttachOptions;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;

/**
 * Every event of USDT probes with all its arguments, up to 1.5 million a second: made by {@link Question#openEvents}.
 * An event is a view of its record, which is moved to the next one, so reading allocates nothing. Closing detaches from
 * all probes and unloads the program. <i>Single consumer</i>: {@link #poll}, {@link #forEach} and {@link #drain} on one
 * thread; all other methods on any thread.
 *
 * {@snippet lang = "java":
 * try (EventStream events = Question.on(Target.command("java", "-version"), "hotspot:*").openEvents()) {
 *     events.forEach((event, probe) -> System.out.println(event.timeNs() + " " + probe.id()));
 * }
 * }
 */
public final class EventStream extends RunningProgram {
    /** Bytes kept of a text. */
    private static final int STRING_MAX = 256;

    private final ProbeEvent event;
    private final ProbeTable table;
    private final RingBuffer ring;
    private long unknown;

    /** Receives events. */
    @FunctionalInterface
    public interface Handler {
        /** Receives an event, which is valid until this method returns, and its probe. */
        void onEvent(ProbeEvent event, TracedProbe probe);
    }

    private EventStream(BpfObject object, Question question, List<TextArgument> texts) {
        super(object, "events", question);
        this.table = new ProbeTable(question.catalog);
        this.event = new ProbeEvent(texts, STRING_MAX);
        this.ring = Objects.requireNonNull(records, "trace.bpf.o has a map of this name");
    }

    static EventStream load(Question question) {
        List<TextArgument> texts = question.texts.isEmpty()
                ? TextArgument.known(question.probes, question.expected, question.catalog)
                : question.texts;
        byte[] modes = new byte[TextArgument.MAX_ARGS];
        byte[] lengths = new byte[TextArgument.MAX_ARGS];
        for (TextArgument text : texts) {
            boolean counted = text.length() != TextArgument.ZERO_TERMINATED;
            modes[text.pointer()] = (byte) (counted ? 2 : 1);
            lengths[text.pointer()] = (byte) (counted ? text.length() : 0);
        }
        BpfLoader tracer = BpfLoader.of(ObjectSpec.parse("trace.bpf.o", BpfObjects.tracer()))
                .host(question.host);
        BpfObject object = withGroups(tracer, question)
                .features(question.features)
                .global("string_mode", modes)
                .global("string_length_arg", lengths)
                .global("string_max", STRING_MAX)
                .global("lossless", question.lossless)
                .map("events", map -> map.withMaxEntries(question.bufferBytes))
                .map("__bpf_usdt_specs", map -> map.withMaxEntries(question.specs()))
                .load();
        try {
            return new EventStream(object, question, texts);
        } catch (RuntimeException | Error e) {
            try (object) {
                throw e;
            }
        }
    }

    @Override
    public synchronized UsdtLink attach(List<UsdtProbe> probes, OptionalInt pid) {
        beforeAttach(pid);
        List<UsdtProbe> parts = table.add(probes);
        AttachOptions all = AttachOptions.defaults().withCookies(table::number).withStrict(strict);
        AttachOptions options = pid.isPresent() ? all.withPid(pid.getAsInt()) : all;
        Program program = object.program("trace");
        return add(usdt.attach(program, parts, options), program, parts, pid);
    }

    /**
     * Waits for events and delivers them, then continues the processes that were paused. Returns at once if {@link
     * #wakeup} was called, or this thread is interrupted.
     *
     * @param patience how long to wait at most
     */
    public void poll(Duration patience, Handler handler) {
        look();
        try {
            ring.poll(patience, (_, data, offset, size) -> hand(data, offset, size, handler));
        } finally {
            paused.resume();
        }
    }

    /** Delivers the last events, without waiting. From now on no process is paused. */
    public void drain(Handler handler) {
        stopPausing();
        poll(Duration.ZERO, handler);
    }

    /**
     * Delivers events as they come, until no event can come any more: see {@link Answer#forEach}, which ends for the
     * same reasons.
     */
    public void forEach(Handler handler) {
        pollUntilEnd(patience -> poll(patience, handler));
    }

    private void hand(MemorySegment data, long offset, int size, Handler handler) {
        delivers();
        event.moveTo(data, offset, size);
        if (event.isPaused()) {
            paused.add(event.pid());
        }
        TracedProbe probe = table.probe(event.cookie());
        if (probe != null) {
            handler.onEvent(event, probe);
        } else {
            unknown++;
        }
    }

    @Override
    void discard() {
        poll(Duration.ZERO, (_, _) -> {});
    }

    @Override
    boolean hasCounted() {
        return lost() > 0;
    }

    @Override
    public boolean isExact() {
        return lost() == 0 && unknown == 0 && reasonsForGaps().isEmpty();
    }

    /** The number of events for which the ring buffer had no room. */
    public long lost() {
        return object.global("lost").getLong();
    }

    /**
     * The number of events so far that belong to no known probe. If the kernel has no BPF cookies, a probe is
     * identified by its address: a process that maps the file again fires at an address that is not in the IP map.
     */
    public long unknown() {
        return unknown;
    }
}
