package io.bpf4j.usdt.internal.spec;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The specs that the attachments of one object have stored in its map. Equal specs share one entry, which keeps its
 * spec ID as long as an attachment uses it: a thousand processes that run one program need no more entries than a
 * single process, and an address that several of them share has one spec for all. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code SpecTableTest}.
 */
public final class SharedSpecs {
    private final SpecIdPool pool;
    private final ObjIntConsumer<byte[]> map;
    private final Map<Bytes, Entry> entries = new HashMap<>();

    private static final class Entry {
        final int id;
        int users;

        Entry(int id) {
            this.id = id;
        }
    }

    /** An array that equals another by content. */
    static final class Bytes {
        private final byte[] array;
        private final int hash;

        Bytes(byte[] array) {
            this.array = array;
            this.hash = Arrays.hashCode(array);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Bytes b && Arrays.equals(array, b.array);
        }

        @Override
        public int hashCode() {
            return hash;
        }
    }

    /** @param map stores a spec under its ID */
    public SharedSpecs(SpecIdPool pool, ObjIntConsumer<byte[]> map) {
        this.pool = pool;
        this.map = map;
    }

    public SpecIdPool pool() {
        return pool;
    }

    /** The ID of a spec, which is stored unless an attachment has stored it already; -1 if the map is full. */
    synchronized int acquire(Bytes spec) {
        Entry entry = entries.get(spec);
        if (entry == null) {
            int id = pool.acquire();
            if (id < 0) {
                return id;
            }
            try {
                map.accept(spec.array, id);
            } catch (RuntimeException | Error e) {
                pool.release(id);
                throw e;
            }
            entry = new Entry(id);
            entries.put(spec, entry);
        }
        entry.users++;
        return entry.id;
    }

    /** Releases the result of {@link #acquire}; after the last user the ID is free. */
    synchronized void release(Bytes spec) {
        Entry entry = entries.get(spec);
        if (entry == null) {
            throw new IllegalStateException("spec was released twice");
        }
        if (--entry.users == 0) {
            entries.remove(spec);
            pool.release(entry.id);
        }
    }
}
