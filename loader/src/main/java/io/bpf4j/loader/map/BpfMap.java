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
     * pop. Hash maps need Linux 5.14.
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
     * most once. Keys of a hash map are remembered for that as long as the iteration lasts.
     */
    Iterable<byte[]> keys();

    /**
     * Forbids writes from user space for good; programs may still write. Needs Linux 5.2.
     *
     * @throws io.bpf4j.loader.error.SyscallException EBUSY if already frozen or mapped for writing
     */
    void freeze();

    /**
     * Gives the map a name in a BPF file system, where it outlives this process.
     *
     * @param path does not exist yet; its directory is in a mounted bpffs
     */
    void pin(Path path);

    boolean isClosed();

    /** Gives this process's hold on the map back. Does nothing the second time. */
    @Override
    void close();
}
