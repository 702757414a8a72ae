package io.bpf4j.loader.internal.map;

import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.internal.call.MapTraits;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Iterates over the keys of a map. <i>Confined.</i>
 *
 * <p>BPF_MAP_GET_NEXT_KEY finds the given key and returns the next key. In a hash map whose given key has been deleted
 * it silently restarts from the first key (htab_map_get_next_key in kernel/bpf/hashtab.c), so a simple loop repeats
 * keys, and does not end while keys are being deleted. Hence two measures. First, the next key is fetched before the
 * current key is returned, so that deleting the current key, the usual case, is safe. Second, the walk stores the
 * returned keys of map types that can lose elements, and skips them after a restart.
 *
 * <p>With many concurrent deletions each step may restart. To terminate, the walk fails after {@value #MAX_ROUNDS}
 * times the number of steps that the full map takes.
 *
 * <p>Tested by {@code KernelMapTest}.
 */
final class KeyWalk implements Iterator<byte[]> {
    static final int MAX_ROUNDS = 8;

    private final KernelMap map;
    private final boolean skipReturned;
    private final Set<ByteBuffer> returned = new HashSet<>();
    private byte @Nullable [] next;
    private long stepsLeft;

    KeyWalk(KernelMap map) {
        this.map = map;
        this.skipReturned = !MapTraits.of(map.typeNumber()).has(MapTraits.Trait.ALL_ELEMENTS);
        this.stepsLeft = MAX_ROUNDS * (Integer.toUnsignedLong(map.maxEntries()) + 1);
        this.next = after(null);
    }

    @Override
    public boolean hasNext() {
        return next != null;
    }

    @Override
    public byte[] next() {
        byte[] current = next;
        if (current == null) {
            throw new NoSuchElementException("no more keys in " + map);
        }
        if (skipReturned) {
            returned.add(ByteBuffer.wrap(current));
        }
        next = after(current);
        return current.clone();
    }

    private byte @Nullable [] after(byte @Nullable [] key) {
        byte[] found = new byte[map.keySize()];
        MemorySegment foundSegment = MemorySegment.ofArray(found);
        MemorySegment from = key == null ? MemorySegment.NULL : MemorySegment.ofArray(key);
        while (map.nextKey(from, foundSegment)) {
            if (stepsLeft-- <= 0) {
                throw endless(map);
            }
            if (!skipReturned || !returned.contains(ByteBuffer.wrap(found))) {
                return found;
            }
            from = foundSegment;
        }
        return null;
    }

    /** An incomplete walk must not look complete. */
    static BpfException endless(KernelMap map) {
        return new BpfException(
                "iteration over " + map + ": concurrent deletions restart it again and again; it does not end within "
                        + MAX_ROUNDS + " times the steps of a full map");
    }
}
