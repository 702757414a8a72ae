package io.bpf4j.elf;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Finds the {@link Segment#PT_LOAD} segment of an address in logarithmic time. <i>Immutable.</i>
 *
 * <p>A program has four such segments, but a core dump may have 60,000, and so may a hostile program with 400,000
 * functions, each of whose addresses is looked up. Segments of sound files don't overlap; where some do, the first of
 * the table counts.
 *
 * <p>The starts and ends of all segments cut the address space into ranges, in each of which one segment counts. A
 * sweep over these cuts keeps the segments that hold the current range in a queue, the first of the table at its head.
 */
final class LoadedRanges {
    /** Starts of ranges, in ascending unsigned order. */
    private final long[] starts;
    /** By range: the segment that counts. */
    private final @Nullable Segment[] segments;

    LoadedRanges(List<Segment> all) {
        List<Segment> loaded = new ArrayList<>();
        TreeSet<Long> cuts = new TreeSet<>(Long::compareUnsigned);
        for (Segment segment : all) {
            if (segment.type() == Segment.PT_LOAD && segment.fileSize() != 0) {
                loaded.add(segment);
                cuts.add(segment.virtualAddress());
                cuts.add(segment.virtualAddress() + segment.fileSize());
            }
        }
        loaded.sort((one, other) -> Long.compareUnsigned(one.virtualAddress(), other.virtualAddress()));
        starts = cuts.stream().mapToLong(Long::longValue).toArray();
        segments = new Segment[starts.length];
        PriorityQueue<Segment> holding = new PriorityQueue<>(Comparator.comparingInt(Segment::index));
        int next = 0;
        for (int i = 0; i < starts.length; i++) {
            while (next < loaded.size() && loaded.get(next).virtualAddress() == starts[i]) {
                holding.add(loaded.get(next++));
            }
            while (!holding.isEmpty() && !holding.element().holds(starts[i])) {
                holding.remove();
            }
            segments[i] = holding.peek();
        }
    }

    /** The segment whose bytes in the file hold an address, or null. */
    @Nullable
    Segment at(long address) {
        int low = 0;
        int high = starts.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (Long.compareUnsigned(starts[middle], address) <= 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low == 0 ? null : segments[low - 1];
    }
}
