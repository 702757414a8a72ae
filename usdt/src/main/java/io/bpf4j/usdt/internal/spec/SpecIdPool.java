package io.bpf4j.usdt.internal.spec;

import java.util.Arrays;
import java.util.BitSet;

/**
 * The spec IDs of one map: each used by at most one spec, from 0 to the map's size minus 1. <i>Thread-safe.</i>
 *
 * <p>A released ID is reused before a new one, the last released first. So the IDs in use stay close to 0 and take few
 * cache lines of the map.
 *
 * <p>Tested by {@code SpecTableTest}.
 */
public final class SpecIdPool {
    private final int capacity;
    private int[] free = new int[16];
    private int freeCount;
    private final BitSet allocated = new BitSet();
    private int unused;

    /** @param capacity entries of the map */
    public SpecIdPool(int capacity) {
        this.capacity = capacity;
    }

    /** Allocates an ID; -1 if all are in use. */
    public synchronized int acquire() {
        if (freeCount == 0 && unused == capacity) {
            return -1;
        }
        int id = freeCount > 0 ? free[--freeCount] : unused++;
        allocated.set(id);
        return id;
    }

    /** Releases an ID. */
    public synchronized void release(int id) {
        if (id < 0 || id >= unused) {
            throw new IllegalArgumentException("spec ID " + id + " was never allocated");
        }
        if (!allocated.get(id)) {
            throw new IllegalStateException("spec ID " + id + " was released twice");
        }
        allocated.clear(id);
        if (freeCount == free.length) {
            free = Arrays.copyOf(free, 2 * freeCount);
        }
        free[freeCount++] = id;
    }

    /** The number of IDs in use now. */
    public synchronized int inUse() {
        return unused - freeCount;
    }

    public int capacity() {
        return capacity;
    }
}
