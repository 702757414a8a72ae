package io.bpf4j.trace.stack;

import io.bpf4j.elf.internal.text.CString;
import java.util.Arrays;

/**
 * Functions by their addresses, in sorted columns: a browser has three million functions, and an object for each would
 * take some hundred megabytes more. A name is decoded when it is requested. <i>Immutable.</i>
 *
 * <p>Tested by {@code AddressTableTest}.
 */
final class AddressTable {
    /**
     * Bytes. A function of unknown size (assembly, or the kernel's) ends where the next one starts, at most so far
     * away.
     */
    static final long MAX_UNSIZED = 1 << 20;

    /**
     * The maximum number of functions that are tried for an address, backwards from the last one that starts before it:
     * functions may nest.
     */
    private static final int MAX_NESTED = 16;

    private final long[] starts;
    private final long[] sizes;
    private final int[] ranks;
    private final int[] names;
    private final byte[] text;

    private AddressTable(long[] starts, long[] sizes, int[] ranks, int[] names, byte[] text) {
        this.starts = starts;
        this.sizes = sizes;
        this.ranks = ranks;
        this.names = names;
        this.text = text;
    }

    /** The index of the function that contains an address; -1 if none does. */
    int find(long address) {
        int at = Arrays.binarySearch(starts, address);
        int floor = at >= 0 ? at : -at - 2;
        for (int i = floor; i >= 0 && i > floor - MAX_NESTED; i--) {
            long distance = address - starts[i];
            boolean inside =
                    sizes[i] == 0 ? i == floor && distance < MAX_UNSIZED : Long.compareUnsigned(distance, sizes[i]) < 0;
            if (inside) {
                return i;
            }
        }
        return -1;
    }

    int count() {
        return starts.length;
    }

    long start(int index) {
        return starts[index];
    }

    /** The rank that the function was added with. */
    int rank(int index) {
        return ranks[index];
    }

    String name(int index) {
        return CString.exact(text, names[index], names[index] + length(index));
    }

    private byte[] bytes(int index) {
        return Arrays.copyOfRange(text, names[index], names[index] + length(index));
    }

    private int length(int index) {
        return CString.end(text, names[index], text.length) - names[index];
    }

    /** Approximate memory in bytes. */
    long bytes() {
        return 24L * starts.length + text.length;
    }

    /** Collects functions in any order. <i>Confined.</i> */
    static final class Builder {
        private final long maxText;
        private final int maxCount;
        private int count;
        private long[] starts = new long[64];
        private long[] sizes = new long[64];
        private int[] ranks = new int[64];
        private int[] names = new int[64];
        private byte[] text = new byte[1024];
        private int textLength;

        /** @param maxText bytes of all names together, at most 1 GiB; functions beyond this limit are not added */
        Builder(long maxText) {
            this(maxText, Integer.MAX_VALUE);
        }

        /** @param maxCount functions; those beyond this limit are not added */
        Builder(long maxText, int maxCount) {
            this.maxText = Math.min(maxText, 1 << 30);
            this.maxCount = maxCount;
        }

        private boolean hasRoom(int nameLength) {
            return count < maxCount && textLength + nameLength + 1L <= maxText;
        }

        /**
         * Adds a function whose code may have replaced other code; its rank is the time. If there is no room, drops the
         * functions whose code was replaced.
         *
         * @return false if there was no room, because functions that were not replaced take more than half of it
         */
        boolean addNewest(long start, long size, byte[] name, int time) {
            if (!hasRoom(name.length)) {
                keepNewest();
                if (count > maxCount / 2 || textLength > maxText / 2 || !hasRoom(name.length)) {
                    return false;
                }
            }
            add(start, size, name, time);
            return true;
        }

        private void keepNewest() {
            AddressTable newest = newest();
            count = 0;
            textLength = 0;
            for (int i = 0; i < newest.count(); i++) {
                add(newest.starts[i], newest.sizes[i], newest.bytes(i), newest.ranks[i]);
            }
        }

        /**
         * Adds a function.
         *
         * @param size in bytes; 0 if unknown
         * @param rank of two functions at one address, the one with the higher rank is kept
         */
        void add(long start, long size, byte[] name, int rank) {
            if (name.length == 0 || !hasRoom(name.length)) {
                return;
            }
            if (count == starts.length) {
                int more = count + (count >> 1);
                starts = Arrays.copyOf(starts, more);
                sizes = Arrays.copyOf(sizes, more);
                ranks = Arrays.copyOf(ranks, more);
                names = Arrays.copyOf(names, more);
            }
            int end = textLength + name.length + 1;
            if (end > text.length) {
                text = Arrays.copyOf(text, (int) Math.max(end, Math.min(maxText, 2L * text.length)));
            }
            System.arraycopy(name, 0, text, textLength, name.length);
            // NUL ends a name here, but a list that a process writes may have NUL inside a name.
            for (int i = textLength; i < end - 1; i++) {
                if (text[i] == 0) {
                    text[i] = '?';
                }
            }
            text[end - 1] = 0;
            starts[count] = start;
            sizes[count] = size;
            ranks[count] = rank;
            names[count] = textLength;
            textLength = end;
            count++;
        }

        /** The table. Of functions that overlap, the one that starts last is found first. */
        AddressTable build() {
            // Sorts the columns without an object for each function: first the addresses alone, then each function goes
            // to the index of its address.
            long[] sorted = distinct(Arrays.copyOf(starts, count));
            int[] best = new int[sorted.length];
            Arrays.fill(best, -1);
            for (int i = 0; i < count; i++) {
                int place = Arrays.binarySearch(sorted, starts[i]);
                if (best[place] < 0 || ranks[i] > ranks[best[place]]) {
                    best[place] = i;
                }
            }
            long[] sortedSizes = new long[sorted.length];
            int[] sortedRanks = new int[sorted.length];
            int[] sortedNames = new int[sorted.length];
            for (int i = 0; i < sorted.length; i++) {
                sortedSizes[i] = sizes[best[i]];
                sortedRanks[i] = ranks[best[i]];
                sortedNames[i] = names[best[i]];
            }
            return new AddressTable(sorted, sortedSizes, sortedRanks, sortedNames, Arrays.copyOf(text, textLength));
        }

        /**
         * The table of code that was replaced over time. The rank is the time: a function that overlaps with one of a
         * higher rank is left out.
         */
        AddressTable buildNewest() {
            keepNewest();
            return build();
        }

        /** The same table; its text still has the names of the functions that are left out. */
        private AddressTable newest() {
            AddressTable all = build();
            int kept = 0;
            for (int i = 0; i < all.starts.length; i++) {
                while (kept > 0 && all.overlaps(kept - 1, i) && all.ranks[kept - 1] < all.ranks[i]) {
                    kept--;
                }
                if (kept > 0 && all.overlaps(kept - 1, i)) {
                    continue;
                }
                all.starts[kept] = all.starts[i];
                all.sizes[kept] = all.sizes[i];
                all.ranks[kept] = all.ranks[i];
                all.names[kept] = all.names[i];
                kept++;
            }
            return new AddressTable(
                    Arrays.copyOf(all.starts, kept),
                    Arrays.copyOf(all.sizes, kept),
                    Arrays.copyOf(all.ranks, kept),
                    Arrays.copyOf(all.names, kept),
                    all.text);
        }

        private static long[] distinct(long[] addresses) {
            Arrays.sort(addresses);
            int kept = 0;
            for (int i = 0; i < addresses.length; i++) {
                if (kept == 0 || addresses[kept - 1] != addresses[i]) {
                    addresses[kept++] = addresses[i];
                }
            }
            return Arrays.copyOf(addresses, kept);
        }
    }

    private boolean overlaps(int earlier, int later) {
        return Long.compareUnsigned(starts[later] - starts[earlier], sizes[earlier]) < 0;
    }
}
