package io.bpf4j.loader.map;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.sys.BpfFs;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.FileCommand;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.MapCommand;
import io.bpf4j.loader.internal.sys.Mapping;
import io.bpf4j.loader.internal.sys.ObjectCommand;
import io.bpf4j.loader.internal.sys.Struct;
import io.bpf4j.loader.internal.sys.UndoStack;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.MapInfo;
import io.bpf4j.loader.kernel.MapType;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A map in the kernel, as bytes. <i>Thread-safe.</i>
 *
 * <p>Keys and values are C structs: fields in the machine's byte order, with C's padding. {@link TypedMap} turns them
 * into Java values.
 *
 * <p>Methods that take {@code byte[]} are for convenience and allocate. Methods that take memory segments allocate
 * nothing if the memory is native, and are for hot paths. Sizes must match exactly in both cases.
 *
 * <p><b>Values per CPU.</b> In a map whose type {@link MapType#isPerCpu() is per CPU}, user space reads and writes the
 * values of all possible CPUs at once: one after the other, each rounded up to 8 bytes. {@link #valueBytes()} is the
 * total size, and {@link TypedMap#perCpu} splits it into values.
 *
 * <p>A map of a {@code BpfObject} is closed with the object; closing it earlier is harmless. After closing, every
 * operation throws {@link IllegalStateException}. The map exists in the kernel as long as a program uses it or it is
 * pinned.
 *
 * <p>Operations throw {@link io.bpf4j.loader.error.SyscallException} if the kernel refuses for a reason that the return
 * value does not report.
 *
 * <p>The file is long because it has all operations; iteration and batches are in other classes.
 */
@SuppressWarnings("exports") // machine and file descriptor are for the loader; other modules can't name them
public final class BpfMap implements AutoCloseable {
    private final Host host;
    private final Kernel kernel;
    private final Fd fd;
    private final String name;
    private final MapInfo info;
    private final Optional<MapType> type;
    private final long valueBytes;
    private final MapBatch batch = new MapBatch(this);

    /** Guarded by itself. */
    private final List<Mapping> mappings = new ArrayList<>();

    private @Nullable MemorySegment arena; // guarded by mappings

    private volatile Optional<CType> keyType = Optional.empty();
    private volatile Optional<CType> valueType = Optional.empty();

    private BpfMap(Host host, Fd fd, String name, MapInfo info) {
        this.host = host;
        this.kernel = host.kernel();
        this.fd = fd;
        this.name = name;
        this.info = info;
        this.type = MapType.of(info.typeNumber());
        boolean perCpu = type.map(MapType::isPerCpu).orElse(false);
        this.valueBytes = perCpu ? stride() * host.possibleCpus().count() : info.valueSize();
    }

    /** Distance of values in memory: their size, rounded up to 8 bytes. */
    private long stride() {
        return (Integer.toUnsignedLong(info.valueSize()) + 7) & ~7L;
    }

    /** For the loader: creates a map. A failure leaves nothing behind. */
    public static BpfMap create(Host host, MapCommand.Create create, String name) {
        return adopt(host, host.kernel().execute(create), name);
    }

    /**
     * For the loader: takes ownership of the file descriptor of a map, and closes it if the kernel gives no information
     * about it.
     *
     * @param name the name in the object: the kernel's name is truncated
     */
    public static BpfMap adopt(Host host, Fd fd, String name) {
        return fd.ownedBy(own -> {
            MapInfo info = host.kernel().execute(new ObjectCommand.InfoOfMap(own, false));
            return new BpfMap(host, own, name.isEmpty() ? info.name() : name, info);
        });
    }

    /** The machine of the map. */
    public Host host() {
        return host;
    }

    /** For the loader: the file descriptor, which this map closes. */
    public Fd fd() {
        return fd;
    }

    /** For the loader: sets the C types of its keys and values, unless another object has set them before. */
    public void describe(Optional<CType> key, Optional<CType> value) {
        if (keyType.isEmpty() && valueType.isEmpty()) {
            keyType = key;
            valueType = value;
        }
    }

    /** The C type of a key, from the object that this map was loaded with; empty if the object has none. */
    public Optional<CType> keyType() {
        return keyType;
    }

    /** The C type of a value, as {@link #keyType}. */
    public Optional<CType> valueType() {
        return valueType;
    }

    /** The kernel's current information about this map. */
    public MapInfo info() {
        return kernel.execute(new ObjectCommand.InfoOfMap(fd, true));
    }

    /**
     * For the loader: the values of an array that was created with BPF_F_MMAPABLE, live, shared with the programs.
     * Unmapped when the map is closed.
     */
    public MemorySegment values(boolean writable) {
        synchronized (mappings) {
            return mapped(stride() * Integer.toUnsignedLong(info.maxEntries()), writable, 0);
        }
    }

    /**
     * The whole arena as memory, mapped once: see {@link ArenaMap}. The first mapping determines its addresses for
     * programs and processes, unless its creator did. Closing the map unmaps it.
     *
     * @throws UnsupportedOperationException if this is not an arena
     */
    public MemorySegment arena() {
        if (type.orElse(null) != MapType.ARENA) {
            throw new UnsupportedOperationException("map \"" + name + "\" is no arena");
        }
        synchronized (mappings) {
            MemorySegment mapped = arena;
            if (mapped == null) {
                long size = Integer.toUnsignedLong(info.maxEntries()) * host.pageSize();
                mapped = mapped(size, true, info.extra());
                arena = mapped;
            }
            return mapped;
        }
    }

    /** The start of this map in memory until the map is closed, at the given address if that is not 0. */
    private MemorySegment mapped(long size, boolean writable, long address) {
        Mapping mapping = kernel.execute(new FileCommand.Map(fd, 0, size, writable, address));
        mappings.add(mapping);
        return mapping.segment();
    }

    /** The name in the object; the kernel shows at most 15 bytes of it. */
    public String name() {
        return name;
    }

    /** The kernel's id, not reused while the machine is up. */
    public int id() {
        return info.id();
    }

    /** The type; empty if it is newer than this library. */
    public Optional<MapType> type() {
        return type;
    }

    /** The kernel's number of the type. */
    public int typeNumber() {
        return info.typeNumber();
    }

    /** Bytes of a key; 0 for queues, stacks and ring buffers. */
    public int keySize() {
        return info.keySize();
    }

    /** Bytes of a value, for one CPU in per-CPU maps; 0 for ring buffers. */
    public int valueSize() {
        return info.valueSize();
    }

    /** Bytes of a value as {@link #lookup} and {@link #update} take it: for all CPUs in per-CPU maps. */
    public long valueBytes() {
        return valueBytes;
    }

    /** The most elements that fit; bytes, a power of two, for ring buffers. */
    public int maxEntries() {
        return info.maxEntries();
    }

    /** The kernel's {@code BPF_F_*} flags that the map was created with. */
    public int flags() {
        return info.flags();
    }

    /**
     * The value of a key, or empty if the map has no such element.
     *
     * @throws IllegalArgumentException if the key's size is not {@link #keySize()}
     */
    public Optional<byte[]> lookup(byte[] key) {
        return read(MapCommand.Op.LOOKUP, key);
    }

    /**
     * Deletes the element and returns its value, in one step. For queues and stacks, with a key of no bytes, this is
     * pop (Linux 4.20). Hash maps need Linux 5.14; other kinds have no such operation.
     */
    public Optional<byte[]> lookupAndDelete(byte[] key) {
        return read(MapCommand.Op.LOOKUP_AND_DELETE, key);
    }

    private Optional<byte[]> read(MapCommand.Op op, byte[] key) {
        checkKey(key.length);
        NativeScratch scratch = NativeScratch.get();
        MemorySegment value = scratch.value(valueBytes);
        int errno = kernel.element(op, fd, scratch.key(MemorySegment.ofArray(key)), value, 0);
        return found(op, errno) ? Optional.of(value.toArray(JAVA_BYTE)) : Optional.empty();
    }

    /**
     * Copies the value of a key.
     *
     * @param key {@link #keySize()} bytes
     * @param value room for {@link #valueBytes()} bytes; unchanged if the map has no such element
     * @return whether the map has such an element
     */
    public boolean lookup(MemorySegment key, MemorySegment value) {
        return read(MapCommand.Op.LOOKUP, key, value);
    }

    /** {@link #lookupAndDelete(byte[])} without allocation. */
    public boolean lookupAndDelete(MemorySegment key, MemorySegment value) {
        return read(MapCommand.Op.LOOKUP_AND_DELETE, key, value);
    }

    private boolean read(MapCommand.Op op, MemorySegment key, MemorySegment value) {
        checkKey(key.byteSize());
        checkValue(value.byteSize());
        NativeScratch scratch = NativeScratch.get();
        // Also copied in: a look-up in a bloom filter passes the value.
        MemorySegment nativeValue = scratch.value(value);
        boolean found = found(op, kernel.element(op, fd, scratch.key(key), nativeValue, 0));
        if (found && !value.isNative()) {
            value.copyFrom(nativeValue);
        }
        return found;
    }

    /**
     * Creates the element or replaces its value.
     *
     * @throws io.bpf4j.loader.error.SyscallException E2BIG if the map is full, among others
     */
    public void update(byte[] key, byte[] value) {
        update(key, value, UpdateMode.ANY);
    }

    /**
     * Creates the element or replaces its value, if the mode allows it.
     *
     * @return false if the mode did not allow it, because the element existed or did not exist
     */
    public boolean update(byte[] key, byte[] value, UpdateMode mode) {
        return update(MemorySegment.ofArray(key), MemorySegment.ofArray(value), mode);
    }

    /** {@link #update(byte[], byte[], UpdateMode)} without allocation. */
    public boolean update(MemorySegment key, MemorySegment value, UpdateMode mode) {
        checkKey(key.byteSize());
        checkValue(value.byteSize());
        NativeScratch scratch = NativeScratch.get();
        int errno = kernel.element(MapCommand.Op.UPDATE, fd, scratch.key(key), scratch.value(value), mode.flag());
        if (errno == 0) {
            return true;
        }
        if ((mode == UpdateMode.NEW_ONLY && errno == Errno.EEXIST.number())
                || (mode == UpdateMode.EXISTING_ONLY && errno == Errno.ENOENT.number())) {
            return false;
        }
        throw MapFailure.of(this, MapCommand.Op.UPDATE.kernelName(), errno);
    }

    /**
     * Deletes the element.
     *
     * @return whether it existed
     */
    public boolean delete(byte[] key) {
        return delete(MemorySegment.ofArray(key));
    }

    /** {@link #delete(byte[])} without allocation. */
    public boolean delete(MemorySegment key) {
        checkKey(key.byteSize());
        NativeScratch scratch = NativeScratch.get();
        return found(
                MapCommand.Op.DELETE,
                kernel.element(MapCommand.Op.DELETE, fd, scratch.key(key), MemorySegment.NULL, 0));
    }

    /**
     * The key after another in the kernel's order, which is arbitrary.
     *
     * @param key {@link MemorySegment#NULL} for the first. If this element no longer exists, a hash map restarts at its
     *     first key
     * @param next room for the next key; may be {@code key} itself
     * @return false after the last key
     */
    public boolean nextKey(MemorySegment key, MemorySegment next) {
        checkKey(next.byteSize());
        NativeScratch scratch = NativeScratch.get();
        MemorySegment from = MemorySegment.NULL;
        if (key.address() != 0 || !key.isNative()) {
            checkKey(key.byteSize());
            from = scratch.key(key);
        }
        MemorySegment to = next.isNative() ? next : scratch.value(info.keySize());
        boolean found = found(MapCommand.Op.NEXT_KEY, kernel.element(MapCommand.Op.NEXT_KEY, fd, from, to, 0));
        if (found && !next.isNative()) {
            next.copyFrom(to);
        }
        return found;
    }

    /**
     * The keys, fetched one by one while iterating. A key that exists during the whole iteration is returned exactly
     * once, even if others insert and delete meanwhile, or the caller deletes the key just returned. A key that is
     * inserted or deleted meanwhile is returned at most once. The iteration stores the keys of maps that can lose
     * elements, because the kernel restarts from the first key if the current one no longer exists. If concurrent
     * deletes restart it again and again, the iteration fails after eight times the steps that a full map takes, with a
     * {@link io.bpf4j.loader.error.BpfException}: it does not end as if it were complete.
     */
    public Iterable<byte[]> keys() {
        return () -> new KeyWalk(this);
    }

    /**
     * Passes each element once to the handler, in the kernel's order: many in one system call if the kernel supports it
     * (Linux 5.6), else one by one. Concurrent changes are as for {@link #keys()}. An element may already be deleted or
     * changed when the handler gets it. The handler gets key and value as read-only copies of {@link #keySize()} and
     * {@link #valueBytes()} bytes, valid until it returns.
     *
     * @throws io.bpf4j.loader.error.SyscallException EINVAL for kinds without keys: queues, ring buffers
     */
    public void forEach(BiConsumer<? super MemorySegment, ? super MemorySegment> handler) {
        batch.forEach(handler);
    }

    /**
     * Deletes the elements and passes them to the handler, for instance to read counters periodically without counting
     * anything twice. Hash maps take many elements in one system call (Linux 5.6); otherwise one by one. If the kernel
     * can't read and delete in one step (hash maps before 5.14, LPM tries), a write between the two is lost. A
     * program's write to an element that it looked up before the deletion is always lost. Queues and stacks give at
     * most {@code max_entries} elements, in pop order. Elements that programs create meanwhile may stay.
     *
     * <p>If the handler throws, other elements deleted by the same system call are lost.
     *
     * @return the number of deleted elements
     * @throws io.bpf4j.loader.error.SyscallException EINVAL for arrays, whose elements can't be deleted
     */
    public long drain(BiConsumer<? super MemorySegment, ? super MemorySegment> handler) {
        return batch.drain(handler);
    }

    /**
     * Creates elements or replaces their values, in order: in one system call if the kernel supports it (Linux 5.6) and
     * the memory is native.
     *
     * @param keys {@code count} times {@link #keySize()} bytes
     * @param values {@code count} times {@link #valueBytes()} bytes
     * @throws io.bpf4j.loader.error.SyscallException at the first element that fails; the elements before it are in the
     *     map
     */
    public void updateAll(MemorySegment keys, MemorySegment values, int count) {
        batch.updateAll(keys, values, count);
    }

    /**
     * Deletes elements: in one system call if the kernel supports it (Linux 5.6), the memory is native and all exist.
     *
     * @param keys {@code count} times {@link #keySize()} bytes; keys that the map does not have are skipped
     * @return the number of deleted elements
     */
    public int deleteAll(MemorySegment keys, int count) {
        return batch.deleteAll(keys, count);
    }

    /**
     * Puts a map into this map of maps, which then holds a reference to it; {@code inner} may be closed. {@link
     * #lookup} returns the inner map's {@link #id()}, 4 bytes, by which {@code Maps.byId} opens it (needs
     * CAP_SYS_ADMIN). Arrays of maps and hashes of maps need Linux 4.12.
     *
     * @return false if the mode did not allow it
     * @throws io.bpf4j.loader.error.SyscallException EINVAL if the inner map does not match the inner map definition of
     *     this map
     */
    public boolean update(byte[] key, BpfMap inner, UpdateMode mode) {
        return put(key, inner.fd, mode);
    }

    /**
     * For the loader: writes a map or a program as the value of a key. A write takes a file descriptor, which is valid only in its own
     * process, and a read returns an id (bpf_map_fd_get_ptr and bpf_map_fd_sys_lookup_elem in
     * kernel/bpf/map_in_map.c).
     */
    public boolean put(byte[] key, Fd value, UpdateMode mode) {
        int number = value.hold();
        try {
            return update(key, Struct.ints(number), mode);
        } finally {
            value.release();
        }
    }

    /**
     * Forbids writes from user space permanently; programs may still write. Needs Linux 5.2.
     *
     * @throws io.bpf4j.loader.error.SyscallException EBUSY if already frozen or mapped for writing
     */
    public void freeze() {
        kernel.execute(new MapCommand.Freeze(fd));
    }

    /**
     * Pins the map in a BPF file system, so that it outlives this process. Needs Linux 4.4.
     *
     * @param path must not exist yet nor have a dot in its last part; its directory must be in a mounted BPF file
     *     system
     * @throws io.bpf4j.loader.error.SyscallException if the path is taken or not in a BPF file system; the message says
     *     which
     */
    public void pin(Path path) {
        BpfFs.pin(kernel, fd, path);
    }

    /**
     * Removes a pin that {@link #pin} created. The map exists as long as it is open, in use or pinned elsewhere.
     *
     * @return false if the path does not exist
     * @throws IllegalArgumentException if the path is not a pin of this map; it then stays
     */
    public boolean unpin(Path path) {
        return BpfFs.unpin(kernel, fd, ObjectCommand.Kind.MAP, path);
    }

    public boolean isClosed() {
        return fd.isClosed();
    }

    /** Closes the map's file descriptor. A second call does nothing. */
    @Override
    public void close() {
        try (UndoStack all = new UndoStack()) {
            all.own(fd);
            synchronized (mappings) {
                // The mappings stay in the list: the next close unmaps a mapping that is in use now.
                mappings.forEach(all::own);
            }
        }
    }

    private boolean found(MapCommand.Op op, int errno) {
        if (errno == 0) {
            return true;
        }
        if (errno == Errno.ENOENT.number()) {
            return false;
        }
        throw MapFailure.of(this, op.kernelName(), errno);
    }

    private void checkKey(long size) {
        if (size != info.keySize()) {
            throw wrongSize("key", size, info.keySize());
        }
    }

    private void checkValue(long size) {
        if (size != valueBytes) {
            throw wrongSize("value", size, valueBytes);
        }
    }

    private IllegalArgumentException wrongSize(String part, long size, long expected) {
        return new IllegalArgumentException(
                "map \"" + name + "\" has a " + part + " of " + expected + " bytes, not of " + size);
    }

    @Override
    public String toString() {
        return "map \"" + name + "\" (" + type.map(Enum::name).orElse("type " + info.typeNumber()) + ", id " + info.id()
                + ")";
    }
}
