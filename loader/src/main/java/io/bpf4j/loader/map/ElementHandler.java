package io.bpf4j.loader.map;

import java.lang.foreign.MemorySegment;

/** Handles the elements of a map, one at a time. */
@FunctionalInterface
public interface ElementHandler {
    /**
     * Handles an element. Both segments are read-only copies, valid until this method returns.
     *
     * @param key {@link BpfMap#keySize()} bytes
     * @param value {@link BpfMap#valueBytes()} bytes
     */
    void onElement(MemorySegment key, MemorySegment value);
}
