package io.bpf4j.loader.ring;

import java.lang.foreign.MemorySegment;

/** Takes the records of a ring buffer, one at a time. */
@FunctionalInterface
public interface RecordHandler {
    /**
     * Takes a record.
     *
     * @param record the record's bytes, read-only, in the memory shared with the kernel: valid until this returns, after
     *     which the kernel may write over them. Its start is aligned to 8 bytes, in a perf buffer to 4
     */
    void onRecord(MemorySegment record);
}
