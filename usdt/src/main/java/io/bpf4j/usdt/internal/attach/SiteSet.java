package io.bpf4j.usdt.internal.attach;

import io.bpf4j.loader.link.TargetFile;
import java.util.function.IntFunction;

/**
 * The sites of one file, in columns, as the kernel takes them. <b>Immutable</b> as long as its arrays are left alone.
 */
public final class SiteSet {
    private final TargetFile file;
    private final boolean fixedAddress;
    final long[] addresses;
    final long[] fileOffsets;
    final long[] semaphoreOffsets;
    final long[] specIds;
    private final IntFunction<String> probes;

    /**
     * From columns of equal length, which from here on belong to the set.
     *
     * @param fixedAddress whether the file is loaded at the addresses that it gives
     * @param addresses virtual addresses in the file
     * @param semaphoreOffsets 0 where a site has none
     * @param probes the name of each site's probe, for messages
     * @param specIds by which the program finds the site's spec; the user's cookies if the program uses no specs
     */
    public SiteSet(
            TargetFile file,
            boolean fixedAddress,
            long[] addresses,
            long[] fileOffsets,
            long[] semaphoreOffsets,
            long[] specIds,
            IntFunction<String> probes) {
        this.file = file;
        this.fixedAddress = fixedAddress;
        this.addresses = addresses;
        this.fileOffsets = fileOffsets;
        this.semaphoreOffsets = semaphoreOffsets;
        this.specIds = specIds;
        this.probes = probes;
    }

    TargetFile file() {
        return file;
    }

    boolean fixedAddress() {
        return fixedAddress;
    }

    int size() {
        return fileOffsets.length;
    }

    /** A site in the words of a message. */
    String describe(int site) {
        return probes.apply(site) + ", site " + (site + 1) + " of " + size() + " at 0x"
                + Long.toHexString(addresses[site]);
    }
}
