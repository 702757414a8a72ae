package io.bpf4j.usdt.internal.attach;

import io.bpf4j.loader.Program;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.TargetFile;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.process.MappedRange;
import io.bpf4j.usdt.internal.note.SiteColumns;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntFunction;

/**
 * Attaches the sites of one file by one of three strategies, so that a program that fires finds the spec of its site.
 * <i>Confined.</i>
 *
 * <p>Tested by {@code UsdtTransactionTest}.
 *
 * @param program loaded for this way of attaching
 * @param cookies the spec ID of each site in the low half and, if BPF cookies are used, the process in the high half;
 *     the user's cookies if the program uses no specs
 * @param probes the name of each site's probe, for messages
 * @param pid the process to attach in; empty for all
 * @param into receives the links. After a failure it holds the links that were made so far; the caller closes them
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record SiteAttacher(
        Program program,
        TargetFile file,
        SiteColumns sites,
        long[] cookies,
        IntFunction<String> probes,
        OptionalInt pid,
        LinkGroup into) {

    /**
     * One uprobe_multi link for all sites, in one system call; the spec ID of a site is in its cookie.
     *
     * @throws AttachException if the kernel refuses a site
     */
    public void byOneLink() {
        try {
            UprobeMulti target = UprobeMulti.at(file, sites.fileOffsets())
                    .withSemaphores(sites.semaphoreOffsets())
                    .withCookies(cookies);
            into.add(program.attach(pid.isPresent() ? target.inProcess(pid.getAsInt()) : target));
        } catch (AttachException e) {
            if (e.site().isEmpty()) {
                throw e;
            }
            int site = e.site().getAsInt();
            throw new AttachException(describe(site) + ": " + e.getMessage(), e, site);
        }
    }

    /**
     * A perf uprobe for each site, with the spec ID in its cookie.
     *
     * @throws AttachException if the kernel refuses a site
     */
    public void byCookies() {
        for (int i = 0; i < sites.size(); i++) {
            attach(i, cookies[i]);
        }
    }

    /**
     * A perf uprobe for each site, and no cookie: the program looks its instruction pointer up in a map. The entry is
     * made before the site is attached, and removed after it is detached.
     *
     * <p>So the absolute address of each site must be known before the site fires: the file contains it if the file has
     * a fixed address; else it follows from the mapping of the file in the one traced process.
     *
     * @param mappings executable mappings of the file in the traced process; empty for a file at a fixed address
     * @throws AttachException if the kernel refuses a site, or an address isn't known or can't have an entry
     */
    public void byAddresses(IpMap map, Optional<List<MappedRange>> mappings) {
        for (int i = 0; i < sites.size(); i++) {
            try {
                for (long address : addresses(i, mappings)) {
                    map.add(address, cookies[i]);
                    into.afterClose(() -> map.remove(address));
                }
            } catch (AttachException e) {
                throw new AttachException(describe(i) + ": " + e.getMessage(), e.getCause());
            }
            attach(i, 0);
        }
    }

    /** A process may map a file more than once. */
    private long[] addresses(int site, Optional<List<MappedRange>> mappings) {
        if (mappings.isEmpty()) {
            return new long[] {sites.address(site)};
        }
        long offset = sites.fileOffset(site);
        long[] found = mappings.get().stream()
                .filter(m -> offset >= m.fileOffset() && offset - m.fileOffset() < m.end() - m.start())
                .mapToLong(m -> m.start() + offset - m.fileOffset())
                .toArray();
        if (found.length == 0) {
            throw new AttachException("the process has not mapped the part of the file with this site");
        }
        return found;
    }

    private void attach(int index, long cookie) {
        try {
            Uprobe target = Uprobe.at(file, sites.fileOffset(index))
                    .withSemaphore(sites.semaphoreOffset(index))
                    .withCookie(cookie);
            into.add(program.attach(pid.isPresent() ? target.inProcess(pid.getAsInt()) : target));
        } catch (AttachException e) {
            throw new AttachException(describe(index) + ": " + e.getMessage(), e);
        }
    }

    /** The description of a site for messages. */
    private String describe(int site) {
        return probes.apply(site) + ", site " + (site + 1) + " of " + sites.size() + " at 0x"
                + Long.toHexString(sites.address(site));
    }
}
