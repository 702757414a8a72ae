package io.bpf4j.loader.ring;

import java.lang.foreign.MemorySegment;

/**
 * Handles the records of a {@link RecordReader} in the memory where they are, with their source, and without an object
 * for each record. A {@code Consumer<MemorySegment>} gets a new object for each, which the JIT compiler mostly
 * eliminates.
 */
@FunctionalInterface
public interface RecordHandler {
    /**
     * Handles a record.
     *
     * @param source for a ring buffer the index of its map among those opened together, from 0; for a perf buffer the
     *     number of the CPU that the program ran on
     * @param data the ring's data, or a copy, read-only; each call may pass the same segment
     * @param offset start of the record in {@code data}, a multiple of 8, or of 4 in a perf buffer
     * @param size bytes of the record, which the kernel may overwrite after this method returns
     */
    void onRecord(int source, MemorySegment data, long offset, int size);
}
