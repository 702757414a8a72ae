package io.bpf4j.loader.ring;

import io.bpf4j.loader.map.BpfMap;
import java.lang.foreign.MemorySegment;

/** Handles the records of several ring buffers that are read together. */
@FunctionalInterface
public interface SourcedRecordHandler {
    /** Handles a record.
     *
     * @param source the map of the record
     * @param record as in {@link RecordHandler#onRecord}
     */
    void onRecord(BpfMap source, MemorySegment record);
}
