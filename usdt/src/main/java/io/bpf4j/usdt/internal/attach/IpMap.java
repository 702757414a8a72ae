package io.bpf4j.usdt.internal.attach;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.ObjectExtension;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The map {@code __bpf_usdt_ip_to_spec_id} of an object, by which programs find their spec if the kernel has no BPF
 * cookies. <i>Thread-safe.</i>
 *
 * <p>A key is an address without a process. A child of fork(2) has its parent's addresses, and all processes that run a
 * program at fixed addresses share these. The same probe has the same spec there: such attachments share the entry,
 * which is removed with the last of them. Another spec at the same address is refused; otherwise the program of the
 * first attachment would read its arguments by the spec of the second.
 *
 * <p>Tested by {@code UsdtTransactionTest}.
 */
public final class IpMap implements ObjectExtension {
    /** The name of the map, given by usdt.bpf.h: s64 address to u32 spec ID, both in the machine's byte order. */
    public static final String NAME = "__bpf_usdt_ip_to_spec_id";

    private static final Key<IpMap> KEY = new Key<>("usdt addresses", IpMap.class, IpMap::new);

    private final Optional<BpfMap> map;
    private final Map<Long, Entry> entries = new HashMap<>();

    /** Addresses whose entries the kernel did not remove: no site is attached there, so they may be overwritten. */
    private final Set<Long> left = new HashSet<>();

    private record Entry(long specId, int users) {}

    private IpMap(BpfObject object) {
        this.map = object.findMap(NAME);
    }

    /** The IP map of an object; empty if the object has no such map. */
    public static Optional<IpMap> of(BpfObject object) {
        IpMap addresses = object.extension(KEY);
        return addresses.map.isPresent() ? Optional.of(addresses) : Optional.empty();
    }

    /**
     * Makes an entry, or shares the existing one.
     *
     * @throws AttachException if the map is full, or the address has another spec
     */
    synchronized void add(long address, long specId) {
        Entry entry = entries.get(address);
        if (entry == null && !put(address, specId)) {
            throw new AttachException(
                    "map '" + NAME + "' has an entry for this address that another program made (EEXIST):"
                            + " the map is shared with it");
        }
        if (entry != null && entry.specId() != specId) {
            throw new AttachException("this object is already attached at this address, and without BPF cookies"
                    + " (Linux >= 5.15) an address can have one spec only");
        }
        entries.put(address, new Entry(specId, entry == null ? 1 : entry.users() + 1));
    }

    /** Stores a new entry; returns false if the address has an entry already. */
    private boolean put(long address, long specId) {
        BpfMap ipMap = map.orElseThrow();
        byte[] value = new byte[4];
        ByteBuffer.wrap(value).order(ByteOrder.nativeOrder()).putInt((int) specId);
        try {
            boolean isLeft = left.contains(address);
            boolean isNew = ipMap.update(key(address), value, isLeft ? UpdateMode.ANY : UpdateMode.NEW_ONLY);
            left.remove(address);
            return isNew;
        } catch (SyscallException e) {
            String reason = e.errno() == Errno.E2BIG
                    ? "map '" + NAME + "' is full: it has " + ipMap.maxEntries()
                            + " entries. Enlarge it before loading, or compile with a larger BPF_USDT_MAX_IP_CNT"
                    : String.valueOf(e.getMessage());
            throw new AttachException(reason, e);
        }
    }

    /** Undoes one {@link #add}. */
    synchronized void remove(long address) {
        Entry entry = entries.get(address);
        if (entry == null) {
            return;
        }
        if (entry.users() > 1) {
            entries.put(address, new Entry(entry.specId(), entry.users() - 1));
            return;
        }
        entries.remove(address);
        try {
            left.add(address);
            map.orElseThrow().delete(key(address));
            left.remove(address);
        } catch (IllegalStateException e) {
            // The object was closed before its link, and the map with it.
            return;
        }
    }

    private static byte[] key(long address) {
        byte[] key = new byte[8];
        ByteBuffer.wrap(key).order(ByteOrder.nativeOrder()).putLong(address);
        return key;
    }

    /** The map belongs to the object; nothing else needs closing. */
    @Override
    public void close() {}
}
