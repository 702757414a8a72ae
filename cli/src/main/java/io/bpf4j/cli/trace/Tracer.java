package io.bpf4j.cli.trace;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.host.PidNamespace;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.Link.Closing;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.process.PausedProcesses;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.objects.BpfObjects;
import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.usdt.AttachOptions;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * Loads the tracer's BPF object, attaches it to probes and delivers their events.
 *
 * <p>Closing detaches and unloads everything. <i>Single consumer</i>: one thread calls {@link #poll} and {@link
 * #drain}; any thread may call the other methods.
 */
public final class Tracer implements ProbeSession {
    /** Bytes kept of a string argument. */
    private static final int STRING_MAX = 256;

    private static final int FEWEST_SPECS = 256;
    private static final String PAUSE_BYTES = "pause_bytes";

    private final BpfObject object;
    private final Usdt usdt;
    private final RingBuffer ring;
    private final TraceEvent event;
    private final boolean strict;
    private final boolean lossless;
    private final PausedProcesses paused = new PausedProcesses();

    private final ProbeTable table;
    private final List<UsdtLink> links = new ArrayList<>();
    private long unknown;

    /**
     * How events are traced. <i>Immutable.</i>
     *
     * @param strings arguments to read as strings
     * @param strategy how to attach
     * @param strict whether an unreadable argument makes the attach fail
     * @param bufferBytes the size of the ring buffer in bytes, a power of two
     * @param lossless whether a process is paused when half of the ring buffer is full. The other half has room for the
     *     events of threads that have not stopped yet
     */
    public record Options(
            List<StringArg> strings, StrategyChoice strategy, boolean strict, int bufferBytes, boolean lossless) {
        /** The usual options. */
        public static Options of(List<StringArg> strings) {
            return new Options(strings, StrategyChoice.AUTO, false, BufferSize.DEFAULT, false);
        }
    }

    private Tracer(BpfObject object, Options options, Catalog catalog) {
        this.table = new ProbeTable(catalog);
        this.strict = options.strict();
        this.lossless = options.lossless();
        this.object = object;
        this.usdt = Usdt.of(object);
        this.event = new TraceEvent(options.strings(), STRING_MAX);
        this.ring = RingBuffer.open(object.map("events"));
        if (lossless) {
            object.global(PAUSE_BYTES).setLong(options.bufferBytes() / 2);
        }
    }

    /**
     * Loads the tracer.
     *
     * @param specs the most argument specs at one time. Sites with equal arguments share one
     * @param catalog the names of the arguments
     */
    public static Tracer load(Options options, int specs, Catalog catalog) {
        byte[] modes = new byte[StringArg.MAX_ARGS];
        byte[] lengths = new byte[StringArg.MAX_ARGS];
        for (StringArg string : options.strings()) {
            boolean counted = string.length() != StringArg.ZERO_TERMINATED;
            modes[string.pointer()] = (byte) (counted ? 2 : 1);
            lengths[string.pointer()] = (byte) (counted ? string.length() : 0);
        }
        ObjectSpec spec = ObjectSpec.parse("trace.bpf.o", BpfObjects.tracer());
        PidNamespace namespace = PidNamespace.own();
        BpfObject object = BpfLoader.of(spec)
                .features(options.strategy().features(Features.ofRunningKernel()))
                .global("pidns_device", namespace.device())
                .global("pidns_inode", namespace.inode())
                .global("string_mode", modes)
                .global("string_length_arg", lengths)
                .global("string_max", STRING_MAX)
                .global("lossless", options.lossless())
                .map("events", map -> map.withMaxEntries(options.bufferBytes()))
                .map("__bpf_usdt_specs", map -> map.withMaxEntries(Math.max(FEWEST_SPECS, specs)))
                .load();
        try {
            return new Tracer(object, options, catalog);
        } catch (RuntimeException e) {
            object.close();
            throw e;
        }
    }

    @Override
    public synchronized UsdtLink attach(List<UsdtProbe> probes, OptionalInt pid) {
        List<UsdtProbe> parts = table.add(probes);
        AttachOptions all = AttachOptions.defaults().withCookies(table::number).withStrict(strict);
        AttachOptions options = pid.isPresent() ? all.withPid(pid.getAsInt()) : all;
        if (lossless) {
            pid.ifPresent(paused::mayStop);
        }
        UsdtLink link = usdt.attach(object.program("trace"), parts, options);
        links.add(link);
        return link;
    }

    @Override
    public synchronized void detach(Link link) {
        links.remove(link);
        Closing _ = link.closeAsync();
    }

    @Override
    public synchronized void close(Link link) {
        links.remove(link);
        link.close();
    }

    /** Receives events. */
    @FunctionalInterface
    public interface Handler {
        /** Receives an event, which is valid until this method returns, and its probe. */
        void onEvent(TraceEvent event, TracedProbe probe);
    }

    /**
     * Waits for events and delivers them, then continues the processes that were paused. Returns at once if {@link
     * #wakeup} was called.
     */
    public void poll(Duration patience, Handler handler) {
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

    private void stopPausing() {
        if (lossless) {
            object.global(PAUSE_BYTES).setLong(0);
        }
    }

    /** The processes that are still stopped, because this process may not send them signals. */
    public Set<Integer> stuck() {
        return paused.stuck();
    }

    @Override
    public void abandon() {
        if (lossless) {
            try {
                stopPausing();
            } finally {
                // If no record waits, every record of a pause was read. So a process that is stopped was stopped by
                // others.
                if (ring.pendingBytes() > 0) {
                    paused.resumeAll();
                } else {
                    paused.resume();
                }
                paused.close();
            }
        }
    }

    private void hand(MemorySegment data, long offset, int size, Handler handler) {
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
    public void wakeup() {
        ring.wakeup();
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

    /** Starts to detach from every probe; {@link #drain} still delivers earlier events. */
    @Override
    public synchronized List<Closing> detach() {
        List<Closing> all = links.stream().map(UsdtLink::closeAsync).toList();
        links.clear();
        return all;
    }

    @Override
    public synchronized void close() {
        try (object;
                ring;
                paused) {
            // Usually empty by now. Multi links are closed together while waiting; other links close in the background.
            LinkGroup all = LinkGroup.inParallel("the tracer's probes");
            links.forEach(all::add);
            links.clear();
            try {
                all.close();
            } finally {
                drain((_, _) -> {});
            }
        }
    }
}
