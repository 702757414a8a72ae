package io.bpf4j.loader.internal.map;

import io.bpf4j.loader.map.MapCursor;
import io.bpf4j.sys.internal.call.MapCommand.BatchOp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Iterator;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A walk in parts: by batches or, where the kernel has none for the map, by its keys. <i>Confined</i> to one thread at a
 * time.
 *
 * <p>Tested by {@code MapBatchOnKernelTest}.
 */
public final class KernelMapCursor implements MapCursor {
    private final KernelMap map;
    private final long flags;
    private final BatchWalk walk;

    /** By keys, after the kernel has refused batches. */
    private @Nullable Iterator<byte[]> keys;

    private BiConsumer<? super MemorySegment, ? super MemorySegment> handler = (_, _) -> {};
    private boolean hasMore = true;

    KernelMapCursor(KernelMap map, long flags) {
        this.map = map;
        this.flags = flags;
        // The place of the walk is a few bytes, which need not be closed.
        this.walk =
                new BatchWalk(map, BatchOp.LOOKUP, flags, Arena.ofAuto(), (key, value) -> handler.accept(key, value));
    }

    @Override
    public boolean next(int max, BiConsumer<? super MemorySegment, ? super MemorySegment> part) {
        if (max < 1) {
            throw new IllegalArgumentException(max + " elements: the number must be positive");
        }
        if (!hasMore) {
            return false;
        }
        handler = part;
        if (keys == null) {
            // The kernel copies no more elements than a map has, and the arrays must not be larger either.
            long size = Math.max(1, Integer.toUnsignedLong(map.maxEntries()));
            BatchWalk.End end = walk.part((int) Math.min(size, max));
            hasMore = end == BatchWalk.End.MORE;
            if (end != BatchWalk.End.UNSUPPORTED) {
                return hasMore;
            }
            keys = map.keys().iterator();
        }
        hasMore = nextByKeys(max, keys);
        return hasMore;
    }

    private boolean nextByKeys(int max, Iterator<byte[]> left) {
        MemorySegment value = MemorySegment.ofArray(new byte[Math.toIntExact(map.valueBytes())]);
        for (int passed = 0; passed < max && left.hasNext(); ) {
            MemorySegment key = MemorySegment.ofArray(left.next());
            if (map.lookup(key, value, flags)) {
                passed++;
                handler.accept(key.asReadOnly(), value.asReadOnly());
            }
        }
        return left.hasNext();
    }
}
