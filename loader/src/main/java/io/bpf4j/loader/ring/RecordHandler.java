package io.bpf4j.loader.ring;

import java.lang.foreign.MemorySegment;

/** Handles the records of a ring buffer, one at a time. */
@FunctionalInterface
public interface RecordHandler {
    /** Handles a record.
     *
     * @param record the record's bytes, read-only, in the memory shared with the kernel: valid until this method
     *     returns; then the kernel may overwrite them. The start is aligned to 8 bytes, or to 4 in a perf buffer
     */
    void onRecord(MemorySegment record);
}
