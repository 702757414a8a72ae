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
 * <p>A program has four such segments, but a core dump may have 60,000. So may a malicious program with 400,000
 * functions, whose addresses are all looked up. Segments of well-formed files don't overlap; where some do, the first
 * one in the table is used.
 *
 * <p>The starts and ends of all segments divide the address space into ranges, in each of which one segment is used. A
 * sweep over these boundaries keeps the segments that contain the current range in a queue, the first one in the table
 * at its head.
 */
final class LoadedRanges {
    /** Starts of ranges, in ascending unsigned order. */
    private final long[] starts;
    /** By range: the segment that is used. */
    private final @Nullable Segment[] segments;

    LoadedRanges(List<Segment> all) {
        List<Segment> loaded = new ArrayList<>();
        TreeSet<Long> boundaries = new TreeSet<>(Long::compareUnsigned);
        for (Segment segment : all) {
            if (segment.type() == Segment.PT_LOAD && segment.fileSize() != 0) {
                loaded.add(segment);
                boundaries.add(segment.virtualAddress());
                boundaries.add(segment.virtualAddress() + segment.fileSize());
            }
        }
        loaded.sort((one, other) -> Long.compareUnsigned(one.virtualAddress(), other.virtualAddress()));
        starts = boundaries.stream().mapToLong(Long::longValue).toArray();
        segments = new Segment[starts.length];
        PriorityQueue<Segment> containing = new PriorityQueue<>(Comparator.comparingInt(Segment::index));
        int next = 0;
        for (int i = 0; i < starts.length; i++) {
            while (next < loaded.size() && loaded.get(next).virtualAddress() == starts[i]) {
                containing.add(loaded.get(next++));
            }
            while (!containing.isEmpty() && !containing.element().contains(starts[i])) {
                containing.remove();
            }
            segments[i] = containing.peek();
        }
    }

    /** The segment whose bytes in the file contain an address, or null. */
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
