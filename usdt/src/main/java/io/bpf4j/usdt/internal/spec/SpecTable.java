package io.bpf4j.usdt.internal.spec;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The specs of one attachment: gives equal specs one number, and all numbers back in the end. <b>Confined</b>, until
 * it is handed to the link that gives them back.
 *
 * <p>Specs are compared as bytes, not as argument strings: the same text {@code -4@sym(%rip)} means different
 * distances at different sites, and the same text with another cookie is another spec; while two texts ({@code 8@%rax},
 * {@code 8@%eax}) may be one.
 */
public final class SpecTable {
    private final SpecIdPool pool;
    private final ObjIntConsumer<byte[]> map;
    private final Map<Bytes, Integer> ids = new HashMap<>();
    private int[] order = new int[16];
    private int count;

    /** An array that equals another by content. */
    private static final class Bytes {
        private final byte[] array;

        Bytes(byte[] array) {
            this.array = array;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Bytes b && Arrays.equals(array, b.array);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(array);
        }
    }

    /** @param map files a spec under its number */
    public SpecTable(SpecIdPool pool, ObjIntConsumer<byte[]> map) {
        this.pool = pool;
        this.map = map;
    }

    /**
     * The number of a spec: a known one, or a fresh one after filing the spec in the map. If anything fails, the
     * numbers given so far stay with the table, for {@link #releaseAll}.
     *
     * @throws SpecMapFullException if the map has no entry left
     */
    public int idOf(byte[] spec) {
        Bytes key = new Bytes(spec);
        Integer known = ids.get(key);
        if (known != null) {
            return known;
        }
        int id = pool.acquire();
        if (id < 0) {
            throw new SpecMapFullException(pool.capacity(), pool.inUse() - count, count);
        }
        if (count == order.length) {
            order = Arrays.copyOf(order, 2 * count);
        }
        order[count++] = id;
        ids.put(key, id);
        map.accept(spec, id);
        return id;
    }

    /** How many different specs there are. */
    public int size() {
        return count;
    }

    /** Gives all numbers back, the last first. No site may be attached any more. Idempotent. */
    public void releaseAll() {
        while (count > 0) {
            pool.release(order[--count]);
        }
        ids.clear();
    }
}
