package io.bpf4j.loader.map;

import java.lang.foreign.MemorySegment;

/** Takes the elements of a map, one at a time. */
@FunctionalInterface
public interface ElementHandler {
    /**
     * Takes an element. Both segments are read-only copies, valid until this returns.
     *
     * @param key {@link BpfMap#keySize()} bytes
     * @param value {@link BpfMap#valueBytes()} bytes
     */
    void onElement(MemorySegment key, MemorySegment value);
}
