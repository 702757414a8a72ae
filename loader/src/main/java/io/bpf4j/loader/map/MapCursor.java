package io.bpf4j.loader.map;

import io.bpf4j.loader.internal.map.KernelMapCursor;
import java.lang.foreign.MemorySegment;
import java.util.function.BiConsumer;

/**
 * A walk over the elements of a map in parts, which the caller continues when it wants: a large map can be read a
 * little at a time, between other work. Made by {@link BpfMap#cursor}. It holds nothing that must be closed.
 * <i>Confined</i> to one thread at a time.
 *
 * <pre>{@code
 * MapCursor cursor = map.cursor(0);
 * while (cursor.next(1000, this::count)) {
 *   serveOtherRequests();
 * }
 * }</pre>
 */
public sealed interface MapCursor permits KernelMapCursor {
    /**
     * Passes on the elements that follow: about {@code max}, in one system call if the kernel has batches for the map
     * (Linux 5.6, some types later), else with two for each element. A part of a hash map consists of whole buckets of its
     * table, so it may be smaller than {@code max}, or larger, if one bucket has more elements.
     *
     * <p>Concurrent changes and the handler's arguments are as for {@link BpfMap#forEach}. Elements that were passed on
     * do not come again, also if the handler throws; those of the same part that follow it are then left out.
     *
     * @param max also bounds the memory for the copies
     * @return whether more elements may follow; false once and for all at the end
     * @throws IllegalArgumentException if {@code max} is not positive
     * @throws IllegalStateException if the map is closed
     * @throws io.bpf4j.sys.SyscallException as {@link BpfMap#forEach}, and EINVAL for flags that the map does not take
     */
    boolean next(int max, BiConsumer<? super MemorySegment, ? super MemorySegment> handler);
}
