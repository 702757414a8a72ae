package io.bpf4j.loader.ring;

import java.lang.foreign.MemorySegment;

/** Handles the records of a perf buffer, with the CPU that the program ran on. */
@FunctionalInterface
public interface PerfRecordHandler {
    /** Handles a record.
     *
     * @param cpu number of the CPU
     * @param record as in {@link RecordHandler#onRecord}
     */
    void onRecord(int cpu, MemorySegment record);
}
