package io.bpf4j.loader.map;

import io.bpf4j.loader.kernel.MapType;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A map in the kernel, as bytes. <i>Thread-safe.</i>
 *
 * <p>Keys and values are C structs: fields in the machine's byte order, with C's padding. {@link TypedMap} turns them
 * into Java values.
 *
 * <p>Methods that take {@code byte[]} are for convenience and allocate. Those that take memory segments allocate nothing
 * where the memory is native, and are for hot paths. Sizes must fit exactly, for both.
 *
 * <p><b>Values per CPU.</b> In a map whose type {@link MapType#isPerCpu() is per CPU}, user space reads and writes the
 * values of all possible CPUs at once: one after the other, each rounded up to 8 bytes. {@link #valueBytes()} is the size
 * of that, and {@link PerCpuMap} knows how to take it apart.
 *
 * <p>A map of a {@code BpfObject} is closed with it; closing it before is harmless. After closing, every operation throws
 * {@link IllegalStateException}. The map itself lives on in the kernel while a program uses it or it is pinned.
 *
 * <p>Operations throw {@link io.bpf4j.loader.error.SyscallException} where the kernel refuses for another reason than
 * the one that the result tells. Only bpf4j implements this interface; a test double may.
 */
public interface BpfMap extends AutoCloseable {
    /** The name in the object; the kernel shows at most 15 bytes of it. */
    String name();

    /** The kernel's id, never used again while the machine is up. */
    int id();

    /** The type; empty if it is newer than this library. */
    Optional<MapType> type();

    /** The kernel's number of the type. */
    int typeNumber();

    /** Bytes of a key; 0 for queues, stacks and ring buffers. */
    int keySize();

    /** Bytes of a value, for one CPU in maps that have a value for each; 0 for ring buffers. */
    int valueSize();

    /** The C type of a key, as the object says it that this map was loaded with; empty where none does. */
    default Optional<CType> keyType() {
        return Optional.empty();
    }

    /** The same of a value. */
    default Optional<CType> valueType() {
        return Optional.empty();
    }

    /** Bytes of a value as {@link #lookup} and {@link #update} take it: all CPUs in maps that have a value for each. */
    long valueBytes();

    /** The most elements that fit; bytes, a power of two, for ring buffers. */
    int maxEntries();

    /** The kernel's {@code BPF_F_*} flags that the map was made with. */
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
     * @param value room for {@link #valueBytes()} bytes, left alone if there is no such element
     * @return whether the map has such an element
     */
    boolean lookup(MemorySegment key, MemorySegment value);

    /**
     * Makes the element or replaces its value.
     *
     * @throws io.bpf4j.loader.error.SyscallException E2BIG if the map is full, among others
     */
    default void update(byte[] key, byte[] value) {
        update(key, value, UpdateMode.ANY);
    }

    /**
     * Makes the element or replaces its value, as far as the mode lets it.
     *
     * @return false if the mode stood in the way: the element was there, or was not
     */
    boolean update(byte[] key, byte[] value, UpdateMode mode);

    /** {@link #update(byte[], byte[], UpdateMode)} without allocation. */
    boolean update(MemorySegment key, MemorySegment value, UpdateMode mode);

    /**
     * Takes the element away.
     *
     * @return whether there was one
     */
    boolean delete(byte[] key);

    /** {@link #delete(byte[])} without allocation. */
    boolean delete(MemorySegment key);

    /**
     * Takes the element away and gives its value, in one step. For queues and stacks, with a key of no bytes, this is
     * pop (Linux 4.20). Hash maps need Linux 5.14; other kinds have no such operation.
     */
    Optional<byte[]> lookupAndDelete(byte[] key);

    /** {@link #lookupAndDelete(byte[])} without allocation. */
    boolean lookupAndDelete(MemorySegment key, MemorySegment value);

    /**
     * The key that follows another in the kernel's order, which means nothing.
     *
     * @param key {@link MemorySegment#NULL} for the first. If this element is gone, a hash map begins anew
     * @param next room for the next key; may be {@code key} itself
     * @return false behind the last key
     */
    boolean nextKey(MemorySegment key, MemorySegment next);

    /**
     * The keys, fetched one by one while iterating. Elements that are there the whole time come exactly once, whatever
     * others insert and delete meanwhile, deleting the key just given included; those that come or go meanwhile come at
     * most once. Keys of maps that can lose elements are remembered for that as long as the iteration lasts, because the
     * kernel starts over from the first key where the current one is gone. Should others delete so fast that it does
     * hardly anything else, the iteration ends after eight times the steps that a full map takes.
     */
    Iterable<byte[]> keys();

    /**
     * Hands out each element once, in the kernel's order: many in one system call where the kernel can (Linux 5.6), else
     * one by one. What {@link #keys()} says about changes meanwhile holds here too. An element may have gone or changed
     * again by the time the handler sees it.
     *
     * @throws io.bpf4j.loader.error.SyscallException EINVAL for kinds without keys: queues, ring buffers
     */
    void forEach(ElementHandler handler);

    /**
     * Takes the elements away and hands them out: so counters are read again and again, and nothing counted twice. Many
     * in one system call for hash maps (Linux 5.6), else one by one; where the kernel can't read and delete in one step
     * (hash maps before 5.14, LPM tries) a write between the two is lost. What a program does with an element that it has
     * looked up before is lost in any case. Of queues and stacks as many as fit into them, in the order in which they
     * pop. Elements that programs make meanwhile may stay.
     *
     * <p>If the handler throws, elements that had been taken away in the same system call are lost.
     *
     * @return how many were taken
     * @throws io.bpf4j.loader.error.SyscallException EINVAL for arrays, whose elements can't be taken away
     */
    long drain(ElementHandler handler);

    /**
     * Makes elements or replaces their values, in order: in one system call where the kernel can (Linux 5.6) and the
     * memory is native.
     *
     * @param keys {@code count} times {@link #keySize()} bytes
     * @param values {@code count} times {@link #valueBytes()} bytes
     * @throws io.bpf4j.loader.error.SyscallException at the first that fails; those before it are in the map
     */
    void updateAll(MemorySegment keys, MemorySegment values, int count);

    /**
     * Takes elements away: in one system call where the kernel can (Linux 5.6), the memory is native and all are there.
     *
     * @param keys {@code count} times {@link #keySize()} bytes; keys that the map does not have are passed over
     * @return how many there were
     */
    int deleteAll(MemorySegment keys, int count);

    /**
     * Puts a map into this map of maps, which holds it from then on; {@code inner} may be closed. What {@link #lookup}
     * gives is not what was put in but the inner map's {@link #id()}, 4 bytes. Arrays of maps and hashes of maps need
     * Linux 4.12.
     *
     * @return false if the mode stood in the way
     * @throws io.bpf4j.loader.error.SyscallException EINVAL if the inner map differs from the one that this was made for
     */
    boolean update(byte[] key, BpfMap inner, UpdateMode mode);

    /**
     * Opens a map that is in this map of maps; needs CAP_SYS_ADMIN, as everything that goes by ids.
     *
     * @return the caller's to close; empty if there is none
     */
    Optional<BpfMap> openInner(byte[] key);

    /** What the kernel says about this map now. */
    MapInfo info();

    /**
     * All of an arena as memory, mapped once: see {@link ArenaMap}. It goes with the map.
     *
     * @throws UnsupportedOperationException if this is no arena
     */
    default MemorySegment arena() {
        throw new UnsupportedOperationException("map \"" + name() + "\" is no arena");
    }

    /**
     * Forbids writes from user space for good; programs may still write. Needs Linux 5.2.
     *
     * @throws io.bpf4j.loader.error.SyscallException EBUSY if already frozen or mapped for writing
     */
    void freeze();

    /**
     * Gives the map a name in a BPF file system, where it outlives this process. Needs Linux 4.4.
     *
     * @param path does not exist yet and has no dot in its last part; its directory is in a mounted bpffs
     * @throws io.bpf4j.loader.error.SyscallException if the path is taken or not in a BPF file system; the message says
     */
    void pin(Path path);

    /**
     * Removes a name that {@link #pin} gave. The map itself stays as long as it is open, in use or pinned elsewhere.
     *
     * @return false if nothing has that name
     * @throws IllegalArgumentException if it is the name of something else, which stays
     */
    boolean unpin(Path path);

    boolean isClosed();

    /** Gives this process's hold on the map back. Does nothing the second time. */
    @Override
    void close();
}
