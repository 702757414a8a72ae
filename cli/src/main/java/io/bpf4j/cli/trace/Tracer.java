package io.bpf4j.cli.trace;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.host.PidNamespace;
import io.bpf4j.loader.link.Link.Closing;
import io.bpf4j.loader.link.LinkGroup;
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

/**
 * Loads the tracer's BPF object, attaches it to probes and delivers their events.
 *
 * <p>Closing detaches and unloads everything. <i>Single consumer</i>: {@link #poll} and {@link #drain} on one thread;
 * all other methods on any thread.
 */
public final class Tracer implements ProbeSession {
    /** Bytes kept of a string argument. */
    private static final int STRING_MAX = 256;

    /** The size of the ring buffer in bytes; it holds the events of a burst until this process reads them. */
    private static final int RING_BYTES = 8 << 20;

    private static final int FEWEST_SPECS = 256;

    private final BpfObject object;
    private final Usdt usdt;
    private final RingBuffer ring;
    private final TraceEvent event;
    private final boolean strict;
    private final ProbeTable table;
    private final List<UsdtLink> links = new ArrayList<>();
    private long unknown;

    private Tracer(BpfObject object, TraceEvent event, boolean strict, Catalog catalog) {
        this.table = new ProbeTable(catalog);
        this.strict = strict;
        this.object = object;
        this.usdt = Usdt.of(object);
        this.event = event;
        this.ring = RingBuffer.open(object.map("events"));
    }

    /**
     * Loads the tracer.
     *
     * @param strings arguments to read as strings
     * @param specs how many argument specs there may be at once: a site with arguments of its own needs one
     */
    public static Tracer load(List<StringArg> strings, int specs) {
        return load(strings, specs, StrategyChoice.AUTO, false, Catalog.builtIn());
    }

    /**
     * Loads the tracer.
     *
     * @param strings arguments to read as strings
     * @param specs how many argument specs there may be at once: a site with arguments of its own needs one
     * @param strategy how to attach
     * @param strict whether an unreadable argument makes the attach fail
     * @param catalog names the arguments
     */
    public static Tracer load(
            List<StringArg> strings, int specs, StrategyChoice strategy, boolean strict, Catalog catalog) {
        byte[] modes = new byte[StringArg.MAX_ARGS];
        byte[] lengths = new byte[StringArg.MAX_ARGS];
        for (StringArg string : strings) {
            boolean counted = string.length() != StringArg.ZERO_TERMINATED;
            modes[string.pointer()] = (byte) (counted ? 2 : 1);
            lengths[string.pointer()] = (byte) (counted ? string.length() : 0);
        }
        ObjectSpec spec = ObjectSpec.parse("trace.bpf.o", BpfObjects.tracer());
        PidNamespace namespace = PidNamespace.own();
        BpfObject object = BpfLoader.of(spec)
                .features(strategy.features(Features.ofRunningKernel()))
                .global("pidns_device", namespace.device())
                .global("pidns_inode", namespace.inode())
                .global("string_mode", modes)
                .global("string_length_arg", lengths)
                .global("string_max", STRING_MAX)
                .map("events", map -> map.withMaxEntries(RING_BYTES))
                .map("__bpf_usdt_specs", map -> map.withMaxEntries(Math.max(FEWEST_SPECS, specs)))
                .load();
        try {
            return new Tracer(object, new TraceEvent(strings, STRING_MAX), strict, catalog);
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
        UsdtLink link = usdt.attach(object.program("trace"), parts, options);
        links.add(link);
        return link;
    }

    @Override
    public synchronized void detach(UsdtLink link) {
        links.remove(link);
        Closing _ = link.closeAsync();
    }

    @Override
    public synchronized void close(UsdtLink link) {
        links.remove(link);
        link.close();
    }

    /** Takes events. */
    @FunctionalInterface
    public interface Handler {
        /** An event, valid until this method returns, and its probe. */
        void onEvent(TraceEvent event, TracedProbe probe);
    }

    /** Waits for events and delivers them; returns at once if {@link #wakeup} was called. */
    public void poll(Duration patience, Handler handler) {
        ring.poll(patience, (_, data, offset, size) -> hand(data, offset, size, handler));
    }

    /** Delivers the available events, without waiting. */
    public void drain(Handler handler) {
        poll(Duration.ZERO, handler);
    }

    private void hand(MemorySegment data, long offset, int size, Handler handler) {
        event.moveTo(data, offset, size);
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
                ring) {
            // Usually empty by now. Multi links are closed together while waiting; other links close in the background.
            LinkGroup all = LinkGroup.inParallel("the tracer's probes");
            links.forEach(all::add);
            links.clear();
            all.close();
        }
    }
}
