package io.bpf4j.usdt.internal.attach;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.usdt.internal.note.SiteColumns;
import io.bpf4j.usdt.internal.process.Mapping;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;

/**
 * The map {@code __bpf_usdt_ip_to_spec_id}, by which a program finds its spec on kernels without BPF cookies.
 *
 * <p>So the absolute address of each site has to be known before it fires: it stands in the file if that has a fixed
 * address; else it follows from where the one process that is traced has mapped the file.
 *
 * <p>An address has one entry, so a site can be attached once by an object. A second time is refused, rather than let the
 * program of the first read its arguments by the spec of the second.
 *
 * @param map s64 address to u32 spec ID, both in the machine's byte order
 * @param mappings executable ones of the file, in the process that is traced; empty for a file at a fixed address
 */
public record IpMap(BpfMap map, Optional<List<Mapping>> mappings) {
    /** The name of the map, given by usdt.bpf.h. */
    public static final String NAME = "__bpf_usdt_ip_to_spec_id";

    /**
     * Makes the entries of a site.
     *
     * @param into takes them back when its links are closed
     * @throws AttachException if the address isn't known, or has an entry, or the map is full; without the site
     */
    void enter(SiteColumns sites, int site, long specId, LinkGroup into) {
        if (mappings.isEmpty()) {
            enter(sites.address(site), specId, into);
            return;
        }
        // Nothing keeps a process from mapping a file twice.
        boolean found = false;
        for (Mapping mapping : mappings.get()) {
            long offset = sites.fileOffset(site) - mapping.fileOffset();
            if (offset >= 0 && offset < mapping.end() - mapping.start()) {
                enter(mapping.start() + offset, specId, into);
                found = true;
            }
        }
        if (!found) {
            throw new AttachException("the process has not mapped this part of the file");
        }
    }

    private void enter(long address, long specId, LinkGroup into) {
        byte[] key = new byte[8];
        ByteBuffer.wrap(key).order(ByteOrder.nativeOrder()).putLong(address);
        byte[] value = new byte[4];
        ByteBuffer.wrap(value).order(ByteOrder.nativeOrder()).putInt((int) specId);
        boolean added;
        try {
            added = map.update(key, value, UpdateMode.NEW_ONLY);
        } catch (SyscallException e) {
            String why = e.errno() == Errno.E2BIG
                    ? "map '" + NAME + "' is full: it has " + map.maxEntries()
                            + " entries. Enlarge it before loading, or compile with a larger BPF_USDT_MAX_IP_CNT"
                    : String.valueOf(e.getMessage());
            throw new AttachException(why, e);
        }
        if (!added) {
            throw new AttachException(
                    "this object is attached there already, and without BPF cookies (Linux >= 5.15) an"
                            + " address can have one spec only");
        }
        into.afterClose(() -> delete(key));
    }

    private void delete(byte[] key) {
        try {
            map.delete(key);
        } catch (IllegalStateException e) {
            // The object was closed before its link, and the map with it.
            return;
        }
    }
}
