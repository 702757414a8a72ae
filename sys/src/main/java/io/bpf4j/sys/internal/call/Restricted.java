package io.bpf4j.sys.internal.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory at a given address: the only operation that the JDK can't check. */
final class Restricted {
    private Restricted() {}

    /**
     * The memory at the address of {@code start}.
     *
     * @param size number of accessible bytes
     * @param arena the lifetime of the memory
     */
    @SuppressWarnings("restricted")
    static MemorySegment view(MemorySegment start, long size, Arena arena) {
        return start.reinterpret(size, arena, null);
    }
}
