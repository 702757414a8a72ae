package io.bpf4j.loader.ring;

import java.lang.foreign.MemorySegment;

/**
 * Takes the records of a ring buffer as a place in its memory. {@link RecordHandler} is given an object for each record,
 * which the JIT compiler mostly removes again; this is never given a new object.
 */
@FunctionalInterface
public interface RawRecordHandler {
    /**
     * Takes a record.
     *
     * @param data the ring's data, or a copy, read-only; each call may give the same segment
     * @param offset where the record starts in it, a multiple of 8, in a perf buffer of 4
     * @param size bytes of the record, which the kernel may write over after this returns
     */
    void onRecord(MemorySegment data, long offset, int size);
}
