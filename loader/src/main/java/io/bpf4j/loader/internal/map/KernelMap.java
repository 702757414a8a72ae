package io.bpf4j.loader.internal.map;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.CType;
import io.bpf4j.loader.map.MapAccess;
import io.bpf4j.loader.map.MapCursor;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.sys.Descriptor;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.BpfFs;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.MapTraits;
import io.bpf4j.sys.internal.call.Mapping;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.OwnDescriptor;
import io.bpf4j.sys.internal.call.Struct;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.internal.linux.CpuSet;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapInfo;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A kernel map, accessed through system calls. <i>Thread-safe.</i>
 *
 * <p>The kernel takes keys and values by address, so they must be in native memory: native segments are passed
 * directly, heap memory is copied through a buffer of the thread.
 *
 * <p>The file is long because it has all operations of the interface; iteration, batches and mappings are in other
 * classes.
 */
public final class KernelMap implements BpfMap {
    /** The flags of an update that are an {@link UpdateMode}. */
    private static final long MODES = 3;

    private final Host host;
    private final Kernel kernel;
    private final Fd fd;
    private final String name;
    private final MapInfo info;
    private final MapAccess access;
    private final Optional<MapType> type;
    private final long valueBytes;
    private final MapBatch batch = new MapBatch(this);

    /** Guarded by itself. */
    private final List<Mapping> mappings = new ArrayList<>();

    private @Nullable MemorySegment arena; // guarded by mappings, as the next two
    private @Nullable MemorySegment writableValues;
    private @Nullable MemorySegment readOnlyValues;

    /** The properties that its inner maps must have; null if it holds no maps, or was not made here. */
    private volatile @Nullable MapShape innerShape;

    private volatile Optional<CType> keyType = Optional.empty();
    private volatile Optional<CType> valueType = Optional.empty();

    private KernelMap(Host host, Fd fd, String name, MapInfo info, MapAccess access) {
        this.host = host;
        this.kernel = Kernel.of(host);
        this.fd = fd;
        this.name = name;
        this.info = info;
        this.access = access;
        this.type = MapType.of(info.typeNumber());
        boolean perCpu = type.map(MapType::isPerCpu).orElse(false);
        this.valueBytes = perCpu ? stride() * CpuSet.possible(host).count() : info.valueSize();
    }

    /** Distance of values in memory: their size, rounded up to 8 bytes. */
    private long stride() {
        return (Integer.toUnsignedLong(info.valueSize()) + 7) & ~7L;
    }

    /** Creates a map. A failure leaves nothing behind. */
    public static KernelMap create(Host host, MapCommand.Create create, String name) {
        return adopt(host, Kernel.of(host).execute(create), name);
    }

    /**
     * Takes ownership of the file descriptor of a map, and closes it if the kernel returns no information about it.
     *
     * @param name the name in the object: the kernel's name is truncated
     */
    public static KernelMap adopt(Host host, Fd fd, String name) {
        return adopt(host, fd, name, MapAccess.READ_WRITE);
    }

    /** As {@link #adopt(Host, Fd, String)}, for a descriptor that may be open only for reading or only for writing. */
    public static KernelMap adopt(Host host, Fd fd, String name, MapAccess access) {
        return fd.ownedBy(own -> {
            MapInfo info = Kernel.of(host).execute(new ObjectCommand.InfoOfMap(own, false));
            return new KernelMap(host, own, name.isEmpty() ? info.name() : name, info, access);
        });
    }

    /** The implementation of a public map. */
    public static KernelMap of(BpfMap map) {
        return switch (map) {
            case KernelMap own -> own;
        };
    }

    /** The machine of the map. */
    public Host host() {
        return host;
    }

    public Kernel kernel() {
        return kernel;
    }

    /** This map closes it. */
    public Fd fd() {
        return fd;
    }

    /** The access for which the descriptor is open. */
    MapAccess access() {
        return access;
    }

    /** Sets the C types of its keys and values, unless another object has set them before. */
    public void describe(Optional<CType> key, Optional<CType> value) {
        if (keyType.isEmpty() && valueType.isEmpty()) {
            keyType = key;
            valueType = value;
        }
    }

    /** The properties that another map must have to take its place. */
    MapShape shape() {
        return MapShape.of(info);
    }

    /** Sets the properties that the inner maps of this map of maps must have, for messages. */
    public void defineInner(MapShape shape) {
        innerShape = shape;
    }

    @Override
    public Optional<CType> keyType() {
        return keyType;
    }

    @Override
    public Optional<CType> valueType() {
        return valueType;
    }

    @Override
    public MapInfo info() {
        return kernel.execute(new ObjectCommand.InfoOfMap(fd, true));
    }

    /**
     * Maps part of this map into memory; unmapped when the map is closed.
     *
     * @param offset a multiple of the page size
     */
    public MemorySegment memory(long offset, long size, boolean writable) {
        synchronized (mappings) {
            Mapping mapping = map(new FileCommand.Map(fd, offset, size, writable));
            mappings.add(mapping);
            return mapping.segment();
        }
    }

    private Mapping map(FileCommand.Map command) {
        try {
            return kernel.execute(command);
        } catch (SyscallException e) {
            throw MapFailure.explained(this, e);
        }
    }

    @Override
    public MemorySegment values(boolean writable) {
        if (type.orElse(null) != MapType.ARRAY || (info.flags() & MapTraits.F_MMAPABLE) == 0) {
            throw new UnsupportedOperationException("map \"" + name + "\" is not an array with BPF_F_MMAPABLE");
        }
        synchronized (mappings) {
            MemorySegment mapped = writable ? writableValues : readOnlyValues;
            if (mapped == null) {
                long size = stride() * Integer.toUnsignedLong(info.maxEntries());
                mapped = memory(0, size, writable);
                if (writable) {
                    writableValues = mapped;
                } else {
                    // A write would end the process.
                    mapped = mapped.asReadOnly();
                    readOnlyValues = mapped;
                }
            }
            return mapped;
        }
    }

    /**
     * The whole arena, mapped once: the first mapping determines its addresses for programs and processes, unless its
     * creator did.
     */
    @Override
    public MemorySegment arena() {
        if (type.orElse(null) != MapType.ARENA) {
            throw new UnsupportedOperationException("map \"" + name + "\" is not an arena");
        }
        synchronized (mappings) {
            MemorySegment mapped = arena;
            if (mapped == null) {
                long size = Integer.toUnsignedLong(info.maxEntries()) * host.pageSize();
                Mapping mapping = map(new FileCommand.Map(fd, 0, size, true, info.extra()));
                mappings.add(mapping);
                mapped = mapping.segment();
                arena = mapped;
            }
            return mapped;
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int id() {
        return info.id();
    }

    @Override
    public Optional<MapType> type() {
        return type;
    }

    @Override
    public int typeNumber() {
        return info.typeNumber();
    }

    @Override
    public int keySize() {
        return info.keySize();
    }

    @Override
    public int valueSize() {
        return info.valueSize();
    }

    @Override
    public long valueBytes() {
        return valueBytes;
    }

    @Override
    public int maxEntries() {
        return info.maxEntries();
    }

    @Override
    public int flags() {
        return info.flags();
    }

    @Override
    public Optional<byte[]> lookup(byte[] key) {
        return read(MapCommand.Op.LOOKUP, key);
    }

    @Override
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

    @Override
    public boolean lookup(MemorySegment key, MemorySegment value) {
        return read(MapCommand.Op.LOOKUP, key, value, 0);
    }

    @Override
    public boolean lookup(MemorySegment key, MemorySegment value, long flags) {
        return read(MapCommand.Op.LOOKUP, key, value, flags);
    }

    @Override
    public boolean lookupAndDelete(MemorySegment key, MemorySegment value) {
        return read(MapCommand.Op.LOOKUP_AND_DELETE, key, value, 0);
    }

    @Override
    public boolean lookupAndDelete(MemorySegment key, MemorySegment value, long flags) {
        return read(MapCommand.Op.LOOKUP_AND_DELETE, key, value, flags);
    }

    private boolean read(MapCommand.Op op, MemorySegment key, MemorySegment value, long flags) {
        checkKey(key.byteSize());
        checkValue(value.byteSize(), flags);
        NativeScratch scratch = NativeScratch.get();
        // Also copied in: a look-up in a bloom filter passes the value.
        MemorySegment nativeValue = scratch.value(value);
        boolean found = found(op, kernel.element(op, fd, scratch.key(key), nativeValue, flags), flags);
        if (found && !value.isNative()) {
            value.copyFrom(nativeValue);
        }
        return found;
    }

    @Override
    public boolean update(byte[] key, byte[] value, UpdateMode mode) {
        return update(MemorySegment.ofArray(key), MemorySegment.ofArray(value), mode);
    }

    @Override
    public boolean update(MemorySegment key, MemorySegment value, UpdateMode mode) {
        return update(key, value, mode.flag());
    }

    @Override
    public boolean update(MemorySegment key, MemorySegment value, long flags) {
        checkKey(key.byteSize());
        checkValue(value.byteSize(), flags);
        NativeScratch scratch = NativeScratch.get();
        int errno = kernel.element(MapCommand.Op.UPDATE, fd, scratch.key(key), scratch.value(value), flags);
        if (errno == 0) {
            return true;
        }
        long mode = flags & MODES;
        if ((mode == UpdateMode.NEW_ONLY.flag() && errno == Errno.EEXIST.number())
                || (mode == UpdateMode.EXISTING_ONLY.flag() && errno == Errno.ENOENT.number())) {
            return false;
        }
        throw MapFailure.of(this, MapCommand.Op.UPDATE.kernelName(), errno, flags & ~MODES);
    }

    @Override
    public boolean delete(byte[] key) {
        return delete(MemorySegment.ofArray(key));
    }

    @Override
    public boolean delete(MemorySegment key) {
        checkKey(key.byteSize());
        NativeScratch scratch = NativeScratch.get();
        return found(
                MapCommand.Op.DELETE,
                kernel.element(MapCommand.Op.DELETE, fd, scratch.key(key), MemorySegment.NULL, 0));
    }

    @Override
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

    @Override
    public Iterable<byte[]> keys() {
        return () -> new KeyWalk(this);
    }

    @Override
    public void forEach(BiConsumer<? super MemorySegment, ? super MemorySegment> handler) {
        batch.forEach(handler);
    }

    @Override
    public MapCursor cursor(long flags) {
        return new KernelMapCursor(this, flags);
    }

    @Override
    public long drain(BiConsumer<? super MemorySegment, ? super MemorySegment> handler) {
        return batch.drain(handler);
    }

    @Override
    public void updateAll(MemorySegment keys, MemorySegment values, int count) {
        batch.updateAll(keys, values, count);
    }

    @Override
    public int deleteAll(MemorySegment keys, int count) {
        return batch.deleteAll(keys, count);
    }

    @Override
    public boolean update(byte[] key, BpfMap inner, UpdateMode mode) {
        try {
            return put(key, of(inner).fd(), mode);
        } catch (SyscallException e) {
            throw e.errno() == Errno.EINVAL ? MapFailure.ofInner(this, of(inner), innerShape, e) : e;
        }
    }

    /**
     * Writes a map or a program as the value of a key. A write takes a file descriptor, which is valid only in its own
     * process, and a read returns an id (bpf_map_fd_get_ptr and bpf_map_fd_sys_lookup_elem in kernel/bpf/map_in_map.c).
     *
     * @param before the numbers of 4 bytes that the value has before the descriptor
     */
    public boolean put(byte[] key, Fd value, UpdateMode mode, int... before) {
        int[] numbers = Arrays.copyOf(before, before.length + 1);
        numbers[before.length] = value.hold();
        try {
            return update(key, Struct.ints(numbers), mode);
        } finally {
            value.release();
        }
    }

    @Override
    public void freeze() {
        try {
            kernel.execute(new MapCommand.Freeze(fd));
        } catch (SyscallException e) {
            throw MapFailure.explained(this, e);
        }
    }

    @Override
    public void pin(Path path) {
        BpfFs.pin(kernel, fd, path);
    }

    @Override
    public boolean unpin(Path path) {
        return BpfFs.unpin(kernel, fd, ObjectCommand.Kind.MAP, path);
    }

    @Override
    public Descriptor descriptor() {
        return OwnDescriptor.of(kernel, fd);
    }

    @Override
    public boolean isClosed() {
        return fd.isClosed();
    }

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
        return found(op, errno, 0);
    }

    private boolean found(MapCommand.Op op, int errno, long flags) {
        if (errno == 0) {
            return true;
        }
        if (errno == Errno.ENOENT.number()) {
            return false;
        }
        throw MapFailure.of(this, op.kernelName(), errno, flags);
    }

    private void checkKey(long size) {
        if (size != info.keySize()) {
            throw wrongSize("key", size, info.keySize());
        }
    }

    private void checkValue(long size, long flags) {
        long expected = (flags & (F_CPU | F_ALL_CPUS)) == 0 ? valueBytes : Integer.toUnsignedLong(info.valueSize());
        if (size != expected) {
            throw wrongSize("value", size, expected);
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
