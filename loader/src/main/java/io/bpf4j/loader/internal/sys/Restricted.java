package io.bpf4j.loader.internal.sys;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory at an address of our choosing: the step that the JDK can't check, kept in one place. */
final class Restricted {
    private Restricted() {}

    /**
     * The memory that starts where {@code start} does.
     *
     * @param size bytes that are known to be there
     * @param arena how long they may be used
     */
    @SuppressWarnings("restricted")
    static MemorySegment view(MemorySegment start, long size, Arena arena) {
        return start.reinterpret(size, arena, null);
    }
}
