package io.bpf4j.usdt.internal.attach;

import io.bpf4j.loader.Program;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.ProcessFilter;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.usdt.internal.process.Mapping;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * A perf uprobe for each site, and no cookie: the program looks its instruction pointer up in the map {@code
 * __bpf_usdt_ip_to_spec_id}.
 *
 * <p>So the absolute address of each site has to be known before it fires: it stands in the file if that has a fixed
 * address; else it follows from where the one process that is traced has mapped the file. The entry is made before the
 * site is attached, and taken back after.
 *
 * <p>An address has one entry, so a site can be attached once by an object. A second time is refused, rather than let the
 * program of the first read its arguments by the spec of the second.
 */
public final class IpMapAttacher implements SiteAttacher {
    /** The name of the map, given by usdt.bpf.h: s64 address to u32 spec ID, both in the machine's byte order. */
    public static final String MAP = "__bpf_usdt_ip_to_spec_id";

    private final BpfMap map;
    private final List<Mapping> mappings;

    /** @param mappings executable ones of the file, in the process that is traced; unused for a file at a fixed address */
    public IpMapAttacher(BpfMap map, List<Mapping> mappings) {
        this.map = map;
        this.mappings = List.copyOf(mappings);
    }

    @Override
    public void attach(Program program, SiteSet sites, ProcessFilter process, LinkGroup into) {
        for (int i = 0; i < sites.size(); i++) {
            if (sites.fixedAddress()) {
                addEntry(sites, i, sites.addresses[i], into);
            } else {
                addEntries(sites, i, into);
            }
            CookieAttacher.attachOne(program, sites, i, 0, process, into);
        }
    }

    /** Nothing keeps a process from mapping a file twice. */
    private void addEntries(SiteSet sites, int index, LinkGroup into) {
        long offset = sites.fileOffsets[index];
        boolean found = false;
        for (Mapping mapping : mappings) {
            long into0 = offset - mapping.fileOffset();
            if (into0 >= 0 && into0 < mapping.end() - mapping.start()) {
                addEntry(sites, index, mapping.start() + into0, into);
                found = true;
            }
        }
        if (!found) {
            throw new AttachException(sites.describe(index) + ": the process has not mapped this part of the file");
        }
    }

    private void deleteEntry(byte[] key) {
        try {
            map.delete(key);
        } catch (IllegalStateException e) {
            // The object was closed before its link, and the map with it.
            return;
        }
    }

    private void addEntry(SiteSet sites, int index, long address, LinkGroup into) {
        byte[] key = new byte[8];
        ByteBuffer.wrap(key).order(ByteOrder.nativeOrder()).putLong(address);
        byte[] value = new byte[4];
        ByteBuffer.wrap(value).order(ByteOrder.nativeOrder()).putInt((int) sites.specIds[index]);
        boolean added;
        try {
            added = map.update(key, value, UpdateMode.NEW_ONLY);
        } catch (SyscallException e) {
            String why = e.errno() == Errno.E2BIG
                    ? "map '" + MAP + "' is full: it has " + map.maxEntries()
                            + " entries. Enlarge it before loading, or compile with a larger BPF_USDT_MAX_IP_CNT"
                    : String.valueOf(e.getMessage());
            throw new AttachException(sites.describe(index) + ": " + why, e);
        }
        if (!added) {
            throw new AttachException(sites.describe(index)
                    + ": this object is attached there already, and without BPF cookies (Linux >= 5.15) an address can"
                    + " have one spec only");
        }
        into.afterClose(() -> deleteEntry(key));
    }
}
