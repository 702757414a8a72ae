package io.bpf4j.loader.internal.map;

import io.bpf4j.loader.kernel.MapType;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Goes through the keys of a map. <i>Confined.</i>
 *
 * <p>BPF_MAP_GET_NEXT_KEY finds the given key and gives the one behind it. In a hash map whose given key has been deleted
 * meanwhile it silently starts over from the first (htab_map_get_next_key in kernel/bpf/hashtab.c), so a simple loop
 * repeats keys, and does not end while someone keeps deleting. Hence two measures. The next key is always fetched before
 * the current one is handed out, so that deleting what was just given, the usual case, does no harm. And keys of types
 * that can lose elements are remembered: one that was given is skipped when a start over brings it up again.
 *
 * <p>Under a storm of deletions each step may start over; the walk gives up after {@value #ROUNDS} times the steps that
 * the largest possible map takes, as it must end some time.
 */
final class KeyWalk implements Iterator<byte[]> {
    static final int ROUNDS = 8;

    private final KernelMap map;
    private final boolean remember;
    private final Set<ByteBuffer> given = new HashSet<>();
    private byte @Nullable [] next;
    private long stepsLeft;

    KeyWalk(KernelMap map) {
        this.map = map;
        this.remember = !hasAllElements(map.type().orElse(MapType.HASH));
        this.stepsLeft = ROUNDS * (Integer.toUnsignedLong(map.maxEntries()) + 1);
        this.next = after(null);
    }

    /** Arrays have all their elements at all times, and their order is that of the index. */
    private static boolean hasAllElements(MapType type) {
        return type == MapType.ARRAY || type == MapType.PERCPU_ARRAY;
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
        if (remember) {
            given.add(ByteBuffer.wrap(current));
        }
        next = after(current);
        return current.clone();
    }

    private byte @Nullable [] after(byte @Nullable [] key) {
        byte[] found = new byte[map.keySize()];
        MemorySegment foundSegment = MemorySegment.ofArray(found);
        MemorySegment from = key == null ? MemorySegment.NULL : MemorySegment.ofArray(key);
        while (stepsLeft-- > 0 && map.nextKey(from, foundSegment)) {
            if (!remember || !given.contains(ByteBuffer.wrap(found))) {
                return found;
            }
            from = foundSegment;
        }
        return null;
    }
}
