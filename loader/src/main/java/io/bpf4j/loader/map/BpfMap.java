package io.bpf4j.loader.map;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.sys.Descriptor;
import io.bpf4j.sys.kernel.MapInfo;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BiConsumer;

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
 * <p>Operations throw {@link io.bpf4j.sys.SyscallException} if the kernel refuses for a reason that the return
 * value does not report.
 */
public sealed interface BpfMap extends AutoCloseable permits KernelMap {
    /**
     * {@code BPF_F_LOCK}: the kernel copies the value while it holds the value's {@code struct bpf_spin_lock}. If
     * programs use the lock, too, neither they nor the caller see a half-written value. The lock itself reads as 0 and
     * is not written. Needs a lock in the values, and its BTF (Linux 5.1, commit 96049f3afd50).
     */
    long F_LOCK = 1 << 2;

    /** {@code BPF_F_CPU}: only the value of one CPU, in a map per CPU; {@link #ofCpu} adds its number (Linux 7.0). */
    long F_CPU = 1 << 3;

    /** {@code BPF_F_ALL_CPUS}: an update sets the same value for all possible CPUs, in a map per CPU (Linux 7.0). */
    long F_ALL_CPUS = 1 << 4;

    /** {@link #F_CPU} with the number of a CPU. */
    static long ofCpu(int cpu) {
        return F_CPU | (long) cpu << 32;
    }

    /** The name in the object; the kernel shows at most 15 bytes of it. */
    String name();

    /** The kernel's id, not reused while the machine is up. */
    int id();

    /** The type; empty if it is newer than this library. */
    Optional<MapType> type();

    /** The kernel's number of the type. */
    int typeNumber();

    /** Bytes of a key; 0 for queues, stacks and ring buffers. */
    int keySize();

    /** Bytes of a value, for one CPU in per-CPU maps; 0 for ring buffers. */
    int valueSize();

    /** The C type of a key, from the object that this map was loaded with; empty if the object has none. */
    Optional<CType> keyType();

    /** The C type of a value, as {@link #keyType}. */
    Optional<CType> valueType();

    /** Bytes of a value as {@link #lookup} and {@link #update} take it: for all CPUs in per-CPU maps. */
    long valueBytes();

    /** The maximum number of elements; for ring buffers their size in bytes, a power of two. */
    int maxEntries();

    /** The kernel's {@code BPF_F_*} flags that the map was created with. */
    int flags();

    /**
     * The value of a key, or empty if the map has no such element.
     *
     * @throws IllegalArgumentException if the key's size is not {@link #keySize()}
     */
    Optional<byte[]> lookup(byte[] key);

    /**
     * Copies the value of a key.
     *
     * @param key {@link #keySize()} bytes
     * @param value {@link #valueBytes()} bytes to write to; unchanged if the map has no such element
     * @return whether the map has such an element
     */
    boolean lookup(MemorySegment key, MemorySegment value);

    /**
     * As {@link #lookup(MemorySegment, MemorySegment)}, with flags.
     *
     * @param value {@link #valueBytes()} bytes, or {@link #valueSize()} with {@link #F_CPU}
     * @param flags {@link #F_LOCK} or {@link #ofCpu}; 0 for none
     * @throws io.bpf4j.sys.SyscallException EINVAL if the kernel or the map does not support a flag; ERANGE if the CPU
     *     is not possible
     */
    boolean lookup(MemorySegment key, MemorySegment value, long flags);

    /**
     * Creates the element or replaces its value.
     *
     * @throws io.bpf4j.sys.SyscallException E2BIG if the map is full, among others
     */
    default void update(byte[] key, byte[] value) {
        update(key, value, UpdateMode.ANY);
    }

    /**
     * Creates the element or replaces its value, if the mode allows it.
     *
     * @return false if the mode did not allow it, because the element existed or did not exist
     */
    boolean update(byte[] key, byte[] value, UpdateMode mode);

    /** {@link #update(byte[], byte[], UpdateMode)} without allocation. */
    boolean update(MemorySegment key, MemorySegment value, UpdateMode mode);

    /**
     * As {@link #update(MemorySegment, MemorySegment, UpdateMode)}, with flags.
     *
     * @param value {@link #valueBytes()} bytes, or {@link #valueSize()} with {@link #F_CPU} or {@link #F_ALL_CPUS}
     * @param flags {@link UpdateMode#flag()}, with {@link #F_LOCK}, {@link #ofCpu} or {@link #F_ALL_CPUS}
     * @throws io.bpf4j.sys.SyscallException EINVAL if the kernel or the map does not support a flag; ERANGE if the CPU
     *     is not possible
     */
    boolean update(MemorySegment key, MemorySegment value, long flags);

    /**
     * Deletes the element.
     *
     * @return whether it existed
     */
    boolean delete(byte[] key);

    /** {@link #delete(byte[])} without allocation. */
    boolean delete(MemorySegment key);

    /**
     * Deletes the element and returns its value, in one step. For queues and stacks, with a key of no bytes, this is
     * pop (Linux 4.20). Hash maps need Linux 5.14; other kinds have no such operation.
     */
    Optional<byte[]> lookupAndDelete(byte[] key);

    /** {@link #lookupAndDelete(byte[])} without allocation. */
    boolean lookupAndDelete(MemorySegment key, MemorySegment value);

    /**
     * As {@link #lookupAndDelete(MemorySegment, MemorySegment)}, with flags.
     *
     * @param flags {@link #F_LOCK}; 0 for none
     */
    boolean lookupAndDelete(MemorySegment key, MemorySegment value, long flags);

    /**
     * The key after another in the kernel's order, which is arbitrary.
     *
     * @param key {@link MemorySegment#NULL} for the first. If this element no longer exists, a hash map restarts at its
     *     first key
     * @param next {@link #keySize()} bytes to write the next key to; may be {@code key} itself
     * @return false after the last key
     */
    boolean nextKey(MemorySegment key, MemorySegment next);

    /**
     * The keys, fetched one by one while iterating. A key that exists during the whole iteration is returned exactly
     * once, even if others insert and delete meanwhile, or the caller deletes the key just returned. A key that is
     * inserted or deleted meanwhile is returned at most once. The iteration stores the keys of maps that can lose
     * elements, because the kernel restarts from the first key if the current one no longer exists. If concurrent
     * deletes restart it repeatedly, the iteration fails after eight times the steps that a full map takes, with a
     * {@link io.bpf4j.sys.BpfException}: it does not end as if it were complete.
     */
    Iterable<byte[]> keys();

    /**
     * Passes each element once to the handler, in the kernel's order: many in one system call if the kernel supports it
     * (Linux 5.6), else one by one. Concurrent changes are as for {@link #keys()}. An element may already be deleted or
     * changed when the handler gets it. The handler gets key and value as read-only copies of {@link #keySize()} and
     * {@link #valueBytes()} bytes, valid until it returns.
     *
     * @throws io.bpf4j.sys.SyscallException EINVAL for kinds without keys: queues, ring buffers
     */
    void forEach(BiConsumer<? super MemorySegment, ? super MemorySegment> handler);

    /**
     * A walk over the elements in parts, from the first.
     *
     * @param flags {@link #F_LOCK}, or 0
     */
    MapCursor cursor(long flags);

    /**
     * Deletes the elements and passes them to the handler, for instance to read counters periodically without counting
     * anything twice. For hash maps one system call deletes many elements (Linux 5.6), for others one element. If the
     * kernel can't read and delete in one step (hash maps before 5.14, LPM tries), a write between the two is lost. A
     * program's write to an element that it looked up before the deletion is always lost. Queues and stacks return at
     * most {@code max_entries} elements, in pop order. Elements that programs create meanwhile may stay.
     *
     * <p>If the handler throws, other elements deleted by the same system call are lost.
     *
     * @return the number of deleted elements
     * @throws io.bpf4j.sys.SyscallException EINVAL for arrays, whose elements can't be deleted
     */
    long drain(BiConsumer<? super MemorySegment, ? super MemorySegment> handler);

    /**
     * Creates elements or replaces their values, in order: in one system call if the kernel supports it (Linux 5.6) and
     * the memory is native.
     *
     * @param keys {@code count} times {@link #keySize()} bytes
     * @param values {@code count} times {@link #valueBytes()} bytes
     * @throws io.bpf4j.sys.SyscallException at the first element that fails; the elements before it are in the
     *     map
     */
    void updateAll(MemorySegment keys, MemorySegment values, int count);

    /**
     * Deletes elements: in one system call if the kernel supports it (Linux 5.6), the memory is native and all exist.
     *
     * @param keys {@code count} times {@link #keySize()} bytes; keys that the map does not have are skipped
     * @return the number of deleted elements
     */
    int deleteAll(MemorySegment keys, int count);

    /**
     * Puts a map into this map of maps, which then holds a reference to it; {@code inner} may be closed. {@link
     * #lookup} returns the inner map's {@link #id()}, 4 bytes, by which {@code Maps.byId} opens it (needs
     * CAP_SYS_ADMIN). Arrays of maps and hashes of maps need Linux 4.12.
     *
     * @return false if the mode did not allow it
     * @throws io.bpf4j.sys.SyscallException EINVAL if the inner map does not match the inner map definition of
     *     this map
     */
    boolean update(byte[] key, BpfMap inner, UpdateMode mode);

    /** The kernel's current information about this map. */
    MapInfo info();

    /**
     * The whole arena as memory, mapped once: see {@link ArenaMap}. Closing the map unmaps it.
     *
     * @throws UnsupportedOperationException if this is not an arena
     */
    MemorySegment arena();

    /**
     * The values of an array that was made with BPF_F_MMAPABLE, as memory that programs share: value {@code i} begins
     * at {@code i} times the size of a value, rounded up to a multiple of 8 bytes. Nothing is copied, and a program may
     * write at the same time. Mapped once for each {@code writable}; closing the map unmaps it, and an access to the
     * segment throws an {@link IllegalStateException} then. Needs Linux 5.5.
     *
     * @param writable whether the memory can be written; then the map can't be frozen any more. If it is false, the
     *     segment is read-only
     * @throws UnsupportedOperationException if this is not an array with this flag
     * @throws io.bpf4j.sys.SyscallException EPERM if {@code writable} and the map is frozen, or open for reading only
     */
    MemorySegment values(boolean writable);

    /**
     * Forbids writes from user space permanently; programs may still write. Needs Linux 5.2.
     *
     * @throws io.bpf4j.sys.SyscallException EBUSY if already frozen or mapped for writing
     */
    void freeze();

    /**
     * Pins the map in a BPF file system, so that it outlives this process. Needs Linux 4.4.
     *
     * @param path must not exist yet nor have a dot in its last part; must be in a mounted BPF file system. The last
     *     directory of the path is created if it does not exist
     * @throws io.bpf4j.sys.SyscallException if the path already exists or is not in a BPF file system; the
     *     message says which
     */
    void pin(Path path);

    /**
     * Removes a pin that {@link #pin} created. The map exists as long as it is open, in use or pinned elsewhere.
     *
     * @return false if the path does not exist
     * @throws IllegalArgumentException if the path is not a pin of this map; it then stays
     */
    boolean unpin(Path path);

    /**
     * A descriptor of the map for other code, such as system calls that bpf4j does not make. The caller must close it.
     *
     * @throws IllegalStateException if the map is closed
     */
    Descriptor descriptor();

    boolean isClosed();

    /** Closes the map's file descriptor. A second call does nothing. */
    @Override
    void close();
}
