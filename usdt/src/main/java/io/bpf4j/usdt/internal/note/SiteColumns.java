package io.bpf4j.usdt.internal.note;

import io.bpf4j.usdt.site.NopForm;
import io.bpf4j.usdt.site.UsdtSite;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.RandomAccess;
import java.util.function.LongFunction;

/**
 * Sites in columns: arrays in which one index is one site, from the notes to the system call, which takes arrays.
 * <i>Immutable.</i>
 *
 * <p>The sites of a file are sorted by probe, in the order of the notes for each. So the sites of a probe are a slice,
 * and so are the sites of neighbouring probes; slices share the arrays. The list creates the object of a site when the
 * caller gets it from the list.
 */
public final class SiteColumns extends AbstractList<UsdtSite> implements RandomAccess {
    private final Columns columns;
    private final int from;
    private final int size;

    private SiteColumns(Columns columns, int from, int size) {
        this.columns = columns;
        this.from = from;
        this.size = size;
    }

    /** The arrays, all of one length; semaphores are 0 where a site has none. */
    @SuppressWarnings("ArrayRecordComponent") // never compared; slices share them
    private record Columns(
            long[] addresses,
            long[] fileOffsets,
            long[] semaphoreAddresses,
            long[] semaphoreOffsets,
            SiteArguments[] arguments,
            NopForm[] code) {
        Columns(int size) {
            this(
                    new long[size],
                    new long[size],
                    new long[size],
                    new long[size],
                    new SiteArguments[size],
                    new NopForm[size]);
        }

        void copyTo(Columns to, int from, int at, int size) {
            System.arraycopy(addresses, from, to.addresses, at, size);
            System.arraycopy(fileOffsets, from, to.fileOffsets, at, size);
            System.arraycopy(semaphoreAddresses, from, to.semaphoreAddresses, at, size);
            System.arraycopy(semaphoreOffsets, from, to.semaphoreOffsets, at, size);
            System.arraycopy(arguments, from, to.arguments, at, size);
            System.arraycopy(code, from, to.code, at, size);
        }
    }

    /** These sites in columns. */
    public static SiteColumns of(List<UsdtSite> sites) {
        if (sites instanceof SiteColumns columns) {
            return columns;
        }
        Columns all = new Columns(sites.size());
        Map<String, SiteArguments> shared = new HashMap<>();
        for (int i = 0; i < sites.size(); i++) {
            UsdtSite site = sites.get(i);
            all.addresses[i] = site.address();
            all.fileOffsets[i] = site.fileOffset();
            all.semaphoreAddresses[i] = site.semaphoreAddress();
            all.semaphoreOffsets[i] = site.semaphoreOffset();
            all.code[i] = site.code();
            SiteArguments own = new SiteArguments(site.arguments(), site.args(), site.symbols());
            SiteArguments known = shared.putIfAbsent(own.text(), own);
            all.arguments[i] = own.equals(known) ? known : own;
        }
        return new SiteColumns(all, 0, sites.size());
    }

    /** Joins the sites of all parts. Neighbouring slices are joined without copying. */
    @SuppressWarnings("ReferenceEquality") // neighbours are slices of the very same arrays
    public static SiteColumns join(List<SiteColumns> parts) {
        SiteColumns first = parts.getFirst();
        int size = 0;
        boolean neighbours = true;
        for (SiteColumns part : parts) {
            neighbours &= part.columns == first.columns && part.from == first.from + size;
            size += part.size;
        }
        if (neighbours) {
            return new SiteColumns(first.columns, first.from, size);
        }
        Columns all = new Columns(size);
        int at = 0;
        for (SiteColumns part : parts) {
            part.columns.copyTo(all, part.from, at, part.size);
            at += part.size;
        }
        return new SiteColumns(all, 0, size);
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public UsdtSite get(int index) {
        int i = at(index);
        SiteArguments arguments = columns.arguments[i];
        return UsdtSite.at(columns.addresses[i], columns.fileOffsets[i])
                .withSemaphore(columns.semaphoreAddresses[i], columns.semaphoreOffsets[i])
                .withArguments(arguments.text(), arguments.args(), arguments.symbols())
                .withCode(columns.code[i]);
    }

    @Override
    public SiteColumns subList(int fromIndex, int toIndex) {
        Objects.checkFromToIndex(fromIndex, toIndex, size);
        return new SiteColumns(columns, from + fromIndex, toIndex - fromIndex);
    }

    /** {@link UsdtSite#address} of a site. */
    public long address(int index) {
        return columns.addresses[at(index)];
    }

    /** {@link UsdtSite#fileOffset} of a site. */
    public long fileOffset(int index) {
        return columns.fileOffsets[at(index)];
    }

    /** {@link UsdtSite#semaphoreOffset} of a site. */
    public long semaphoreOffset(int index) {
        return columns.semaphoreOffsets[at(index)];
    }

    /** The arguments of a site: one object for all sites of a file that have the same text. */
    public SiteArguments arguments(int index) {
        return columns.arguments[at(index)];
    }

    /** Whether any site has a semaphore. */
    public boolean haveSemaphores() {
        for (int i = from; i < from + size; i++) {
            if (columns.semaphoreAddresses[i] != 0) {
                return true;
            }
        }
        return false;
    }

    /** The column of file offsets; must not be modified. */
    public long[] fileOffsets() {
        return column(columns.fileOffsets);
    }

    /** The column of the semaphores' file offsets, 0 for a site that has none; must not be modified. */
    public long[] semaphoreOffsets() {
        return column(columns.semaphoreOffsets);
    }

    private long[] column(long[] all) {
        return size == all.length ? all : Arrays.copyOfRange(all, from, from + size);
    }

    private int at(int index) {
        return from + Objects.checkIndex(index, size);
    }

    /** Collects the sites of a file in the order of its notes, which is any order of probes. <i>Confined.</i> */
    static final class Builder {
        /** For each site its probe, its argument string, both as numbers from 0, and four longs. */
        private int[] numbers = new int[2 * 16];

        private long[] positions = new long[4 * 16];
        private int size;

        int size() {
            return size;
        }

        /** Reserves room for so many more sites, so that the arrays need not grow step by step; more may follow. */
        void expect(int more) {
            if (2 * (size + more) > numbers.length) {
                grow(size + more);
            }
        }

        private void grow(int capacity) {
            numbers = Arrays.copyOf(numbers, 2 * capacity);
            positions = Arrays.copyOf(positions, 4 * capacity);
        }

        /** The number of the probe of the site that was added last. */
        int lastProbe() {
            return numbers[2 * size - 2];
        }

        /** The number of the argument string of the site that was added last. */
        int lastArguments() {
            return numbers[2 * size - 1];
        }

        void add(int probe, int arguments, long address, long fileOffset, long semaphoreAddress, long semaphoreOffset) {
            if (2 * size == numbers.length) {
                grow(2 * size);
            }
            numbers[2 * size] = probe;
            numbers[2 * size + 1] = arguments;
            positions[4 * size] = address;
            positions[4 * size + 1] = fileOffset;
            positions[4 * size + 2] = semaphoreAddress;
            positions[4 * size + 3] = semaphoreOffset;
            size++;
        }

        /**
         * The sites of each probe.
         *
         * @param probes the number of probes; each has a site
         * @param arguments the argument strings by their numbers
         * @param code the instructions at a file offset
         */
        List<SiteColumns> byProbe(int probes, SiteArguments[] arguments, LongFunction<NopForm> code) {
            int[] ends = new int[probes];
            for (int i = 0; i < size; i++) {
                ends[numbers[2 * i]]++;
            }
            for (int probe = 1; probe < probes; probe++) {
                ends[probe] += ends[probe - 1];
            }
            Columns all = new Columns(size);
            int[] at = new int[probes];
            for (int i = 0; i < size; i++) {
                int probe = numbers[2 * i];
                int to = (probe == 0 ? 0 : ends[probe - 1]) + at[probe]++;
                all.addresses[to] = positions[4 * i];
                all.fileOffsets[to] = positions[4 * i + 1];
                all.semaphoreAddresses[to] = positions[4 * i + 2];
                all.semaphoreOffsets[to] = positions[4 * i + 3];
                all.arguments[to] = arguments[numbers[2 * i + 1]];
                all.code[to] = code.apply(positions[4 * i + 1]);
            }
            List<SiteColumns> slices = new ArrayList<>();
            for (int probe = 0; probe < probes; probe++) {
                int start = probe == 0 ? 0 : ends[probe - 1];
                slices.add(new SiteColumns(all, start, ends[probe] - start));
            }
            return slices;
        }
    }
}
