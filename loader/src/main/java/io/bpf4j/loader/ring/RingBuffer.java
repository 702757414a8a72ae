package io.bpf4j.loader.ring;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.sys.internal.call.EpollEvent;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Mapping;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.MapType;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the records that BPF programs write to one or several ring buffer maps.
 *
 * <pre>{@code
 * Codec<Event> events = obj.codec(Event.class, "event"); // a record, compared with the object's struct event
 * try (RingBuffer ring = RingBuffer.open(obj.map("events"))) {
 *   while (running) {
 *     ring.poll(Duration.ofMillis(100), events, this::onEvent);
 *   }
 * }
 * }</pre>
 *
 * <p>{@link RecordReader} describes the rules for threads, handlers and closing.
 */
public final class RingBuffer extends RecordReader {
    /** BPF_F_RB_OVERWRITE of include/uapi/linux/bpf.h. */
    private static final int OVERWRITES = 1 << 19;

    RingBuffer(List<KernelMap> maps, List<RingConsumer> rings, Waiter waiter) {
        super(
                "ring buffer",
                rings,
                waiter,
                source -> "ring buffer " + maps.get(source).name());
    }

    /**
     * Starts to read the given maps.
     *
     * @throws IllegalArgumentException if a map is not a ring buffer, or overwrites its oldest records
     *     ({@code BPF_F_RB_OVERWRITE})
     * @throws io.bpf4j.sys.SyscallException if the kernel refuses; nothing stays open
     */
    public static RingBuffer open(BpfMap map, BpfMap... more) {
        List<KernelMap> maps = new ArrayList<>();
        maps.add(ringMap(map));
        for (BpfMap another : more) {
            maps.add(ringMap(another));
        }
        Waiter waiter = new Waiter(maps.getFirst().kernel(), "ring buffer " + map.name());
        try {
            List<RingConsumer> rings = new ArrayList<>();
            for (KernelMap each : maps) {
                waiter.watch(each.fd(), rings.size(), EpollEvent.READABLE | EpollEvent.EDGE_TRIGGERED);
                rings.add(consumer(rings.size(), each, waiter.owned()));
            }
            return new RingBuffer(maps, rings, waiter);
        } catch (RuntimeException | Error e) {
            waiter.owned().closeAfter(e);
            throw e;
        }
    }

    private static KernelMap ringMap(BpfMap map) {
        if (map.typeNumber() != MapType.RINGBUF.number()) {
            throw new IllegalArgumentException(map + " is not a ring buffer");
        }
        if ((map.flags() & OVERWRITES) != 0) {
            throw new IllegalArgumentException(
                    map + " can't be read by a RingBuffer: it overwrites its oldest records (BPF_F_RB_OVERWRITE),"
                            + " also while they are read");
        }
        return KernelMap.of(map);
    }

    private static RingConsumer consumer(int source, KernelMap map, UndoStack owned) {
        long page = map.host().pageSize();
        long size = Integer.toUnsignedLong(map.maxEntries());
        Mapping consumerMapping = owned.own(map.kernel().execute(new FileCommand.Map(map.fd(), 0, page, true)));
        Mapping producerMapping =
                owned.own(map.kernel().execute(new FileCommand.Map(map.fd(), page, page + 2 * size, false)));
        return new RingConsumer(
                source,
                consumerMapping.segment(),
                producerMapping.segment().asSlice(0, page),
                producerMapping.segment().asSlice(page, 2 * size));
    }
}
