package io.bpf4j.loader.internal.map;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.MapCommand.BatchOp;
import io.bpf4j.sys.internal.call.MapCommand.BatchResult;
import io.bpf4j.sys.internal.call.MapTraits;
import io.bpf4j.sys.kernel.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * Iterates over a map in steps of many elements, reading or removing them. <i>Confined</i>; runs once to the end, or in
 * parts.
 *
 * <p>In each step the kernel fills two arrays, keys and values, returns the count, and writes to {@code out_batch} a
 * token for {@code in_batch} of the next step. The token is the number of a bucket for the hash maps
 * (__htab_map_lookup_and_delete_batch in kernel/bpf/hashtab.c) and the last key for all others
 * (generic_map_lookup_batch in kernel/bpf/syscall.c). Example: a hash map with 4 buckets, and arrays for 4 elements:
 *
 * <pre>
 *   in NULL  ->  0       count 3  out 2     buckets 0 and 1 had three; bucket 2 has two, which do not fit
 *   in 2     ->  ENOENT  count 3  out 4     the end, with three more: not an error
 * </pre>
 *
 * <p>A bucket is returned completely or not at all, under its lock. So an element of a hash map is returned at most
 * once, even with concurrent changes, and keys need not be remembered. If a bucket has more elements than the arrays
 * hold, the kernel returns ENOSPC, and the arrays are enlarged. In other map types a deleted last key may restart the
 * walk, as {@link KeyWalk} explains, with the same remedy: the walk stores the keys, and counts the steps.
 *
 * <p>Tested by {@code MapBatchTest} and {@code MapBatchOnKernelTest}.
 */
final class BatchWalk {
    private final KernelMap map;
    private final BatchOp op;
    private final BiConsumer<? super MemorySegment, ? super MemorySegment> handler;
    private final long keySize;
    private final long valueSize;
    private final long elementFlags;
    private final MemorySegment position;
    private final MemorySegment next;
    private boolean started;

    /** Keys that were returned, if the kernel may return a key again. */
    private final Set<ByteBuffer> returned = new HashSet<>();

    private final boolean skipReturned;
    private long stepsLeft;
    private long count;

    /** The result of a call. */
    enum End {
        MORE,
        ALL,
        TOO_SMALL,
        UNSUPPORTED
    }

    /**
     * A walk from the start.
     *
     * @param elementFlags BPF_F_LOCK, or 0
     * @param tokens for the place of the walk, which is needed as long as the walk
     */
    BatchWalk(
            KernelMap map,
            BatchOp op,
            long elementFlags,
            Arena tokens,
            BiConsumer<? super MemorySegment, ? super MemorySegment> handler) {
        this.map = map;
        this.op = op;
        this.handler = handler;
        this.keySize = map.keySize();
        this.valueSize = map.valueBytes();
        this.elementFlags = elementFlags;
        this.position = tokens.allocate(Math.max(Long.BYTES, keySize), 8);
        this.next = tokens.allocate(Math.max(Long.BYTES, keySize), 8);
        this.skipReturned = !MapTraits.of(map.typeNumber()).has(MapTraits.Trait.UNIQUE_IN_BATCH);
        this.stepsLeft = KeyWalk.MAX_ROUNDS * (entries() + 1);
    }

    private long entries() {
        return Integer.toUnsignedLong(map.maxEntries());
    }

    /** Number of returned elements. */
    long count() {
        return count;
    }

    /**
     * Passes on all elements that are left.
     *
     * @param firstCapacity elements to request first
     * @return false, before the first element, if this map does not support the operation
     */
    boolean run(int firstCapacity) {
        return go(firstCapacity, false) == End.ALL;
    }

    /** Passes on the elements of one step, at least one if any is left; {@code MORE} if others may follow. */
    End part(int firstCapacity) {
        return go(firstCapacity, true);
    }

    private End go(int firstCapacity, boolean once) {
        for (long capacity = firstCapacity; ; capacity *= 2) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment keys = arena.allocate(keySize * capacity, 8);
                MemorySegment values = arena.allocate(valueSize * capacity, 8);
                End end = End.MORE;
                long before = count;
                while (end == End.MORE && !(once && count > before)) {
                    BatchResult result = map.kernel()
                            .execute(new MapCommand.Batch(
                                    op,
                                    map.fd(),
                                    started ? position : MemorySegment.NULL,
                                    next,
                                    keys,
                                    values,
                                    (int) capacity,
                                    elementFlags));
                    int filled = filled(result, (int) capacity);
                    // Before the handler, which may throw: the elements count as read.
                    if (filled > 0) {
                        started = true;
                        position.copyFrom(next);
                    }
                    pass(keys, values, filled);
                    end = end(result);
                }
                if (end != End.TOO_SMALL) {
                    return end;
                }
            }
            if (capacity > 2 * entries()) {
                // The arrays are larger than the map and still too small: stop, to avoid an endless loop.
                throw MapFailure.of(map, op.kernelName(), Errno.ENOSPC.number());
            }
        }
    }

    /** Number of valid elements in the arrays. */
    private static int filled(BatchResult result, int capacity) {
        return switch (Errno.of(result.errno())) {
            case OK, ENOENT -> result.count();
            // The kernel has tried three times to read an element that was deleted meanwhile; the elements before it
            // are valid.
            case EINTR -> result.count() < capacity ? result.count() : 0;
            default -> 0;
        };
    }

    private End end(BatchResult result) {
        stepsLeft -= filled(result, Integer.MAX_VALUE) + 1L;
        return switch (Errno.of(result.errno())) {
            case OK -> result.count() == 0 ? End.ALL : more();
            case EINTR -> more();
            case ENOENT -> End.ALL;
            case ENOSPC -> End.TOO_SMALL;
            default -> {
                if (!started && MapBatch.isUnsupported(result.errno())) {
                    yield End.UNSUPPORTED;
                }
                throw MapFailure.of(map, op.kernelName(), result.errno());
            }
        };
    }

    private End more() {
        if (stepsLeft < 0) {
            throw KeyWalk.endless(map);
        }
        return End.MORE;
    }

    private void pass(MemorySegment keys, MemorySegment values, int filled) {
        for (int i = 0; i < filled; i++) {
            MemorySegment key = keys.asSlice(i * keySize, keySize).asReadOnly();
            if (!skipReturned || returned.add(ByteBuffer.wrap(key.toArray(JAVA_BYTE)))) {
                count++;
                handler.accept(key, values.asSlice(i * valueSize, valueSize).asReadOnly());
            }
        }
    }
}
