package io.bpf4j.loader.ring;

import java.lang.foreign.MemorySegment;

/**
 * Handles the records of a ring buffer as offsets in its memory. A {@link RecordHandler} gets a new object for each
 * record, which the JIT compiler mostly eliminates; this handler never gets a new object.
 */
@FunctionalInterface
public interface RawRecordHandler {
    /** Handles a record.
     *
     * @param data the ring's data, or a copy, read-only; each call may give the same segment
     * @param offset start of the record in {@code data}, a multiple of 8, or of 4 in a perf buffer
     * @param size bytes of the record, which the kernel may overwrite after this method returns
     */
    void onRecord(MemorySegment data, long offset, int size);
}
