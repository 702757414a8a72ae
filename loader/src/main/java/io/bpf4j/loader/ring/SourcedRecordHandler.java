package io.bpf4j.loader.ring;

import io.bpf4j.loader.map.BpfMap;
import java.lang.foreign.MemorySegment;

/** Takes the records of several ring buffers that are read together. */
@FunctionalInterface
public interface SourcedRecordHandler {
    /**
     * Takes a record.
     *
     * @param source the map that the record came through
     * @param record as in {@link RecordHandler#onRecord}
     */
    void onRecord(BpfMap source, MemorySegment record);
}
