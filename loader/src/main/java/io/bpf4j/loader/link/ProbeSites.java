package io.bpf4j.loader.link;

import java.util.List;

/**
 * Many sites, as columns: the form in which the kernel takes them. <i>Immutable</i> if the caller does not change the
 * arrays passed to {@link #columns}, which are not copied.
 */
public final class ProbeSites {
    private static final long[] NONE = {};

    private final long[] fileOffsets;
    private final long[] refCounterOffsets;
    private final long[] cookies;

    private ProbeSites(long[] fileOffsets, long[] refCounterOffsets, long[] cookies) {
        this.fileOffsets = fileOffsets;
        this.refCounterOffsets = refCounterOffsets;
        this.cookies = cookies;
    }

    public static ProbeSites of(List<ProbeSite> sites) {
        return columns(
                sites.stream().mapToLong(ProbeSite::fileOffset).toArray(),
                sites.stream().mapToLong(ProbeSite::refCounterOffset).toArray(),
                sites.stream().mapToLong(ProbeSite::cookie).toArray());
    }

    public static ProbeSites of(ProbeSite... sites) {
        return of(List.of(sites));
    }

    /**
     * Creates sites from columns. The arrays belong to the result afterwards.
     *
     * @param refCounterOffsets empty if no site has a semaphore
     * @param cookies empty if no site has a cookie
     */
    public static ProbeSites columns(long[] fileOffsets, long[] refCounterOffsets, long[] cookies) {
        if ((refCounterOffsets.length != 0 && refCounterOffsets.length != fileOffsets.length)
                || (cookies.length != 0 && cookies.length != fileOffsets.length)) {
            throw new IllegalArgumentException(fileOffsets.length + " sites, but " + refCounterOffsets.length
                    + " semaphores and " + cookies.length + " cookies");
        }
        return new ProbeSites(fileOffsets, allZero(refCounterOffsets) ? NONE : refCounterOffsets, cookies);
    }

    private static boolean allZero(long[] values) {
        for (long value : values) {
            if (value != 0) {
                return false;
            }
        }
        return true;
    }

    public int size() {
        return fileOffsets.length;
    }

    public ProbeSite get(int index) {
        return new ProbeSite(
                fileOffsets[index],
                refCounterOffsets.length == 0 ? 0 : refCounterOffsets[index],
                cookies.length == 0 ? 0 : cookies[index]);
    }

    /** Whether any site has a semaphore. */
    public boolean haveRefCounters() {
        return refCounterOffsets.length != 0;
    }

    /** A copy of the file offsets. */
    public long[] fileOffsets() {
        return fileOffsets.clone();
    }

    /** A copy of the semaphores' offsets; empty if no site has one. */
    public long[] refCounterOffsets() {
        return refCounterOffsets.clone();
    }

    /** A copy of the cookies; empty if no site has one. */
    public long[] cookies() {
        return cookies.clone();
    }
}
