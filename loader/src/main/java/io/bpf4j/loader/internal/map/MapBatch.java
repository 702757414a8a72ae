package io.bpf4j.loader.internal.map;

import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.MapCommand.BatchOp;
import io.bpf4j.sys.internal.call.MapCommand.BatchResult;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Many elements of a map at once. <i>Thread-safe.</i>
 *
 * <p>BPF_MAP_*_BATCH (Linux 5.6, commits cb4d03ab499d, aa2e93b8e58e, 057996380a42) processes many elements with one
 * system call, instead of one or two calls per element. An older kernel rejects it with EINVAL, a map type without
 * batch operations with ENOTSUPP (524); then elements are processed one by one, with the same result. {@link BatchWalk}
 * explains reading.
 *
 * <p><b>The count</b> in the struct is the requested count until the kernel overwrites it; the kernel does not
 * overwrite it if it rejects the call early. An operation that fails later has processed fewer elements than requested.
 * So after an error, an unchanged count means that no element was processed.
 */
final class MapBatch {
    /** Bytes of keys and values in one step: small enough to stay in a processor's cache. */
    private static final long STEP_BYTES = 64 << 10;

    private static final int MIN_STEP = 16;

    private final KernelMap map;

    /** The operations that the kernel does not support for this map; they are not tried again. */
    private final Set<BatchOp> unsupported = ConcurrentHashMap.newKeySet();

    MapBatch(KernelMap map) {
        this.map = map;
    }

    /** Passes on each element. */
    void forEach(BiConsumer<? super MemorySegment, ? super MemorySegment> handler) {
        long _ = each(BatchOp.LOOKUP, map::lookup, handler);
    }

    /** Removes each element and passes it on; returns the count. */
    long drain(BiConsumer<? super MemorySegment, ? super MemorySegment> handler) {
        return map.typeNumber() == MapType.QUEUE.number() || map.typeNumber() == MapType.STACK.number()
                ? pop(handler)
                : each(BatchOp.LOOKUP_AND_DELETE, this::take, handler);
    }

    /** Passes on each element, in batches or by an operation for a single key; returns the count. */
    private long each(
            BatchOp op,
            Function<byte[], Optional<byte[]>> single,
            BiConsumer<? super MemorySegment, ? super MemorySegment> handler) {
        if (!unsupported.contains(op)) {
            try (Arena tokens = Arena.ofConfined()) {
                BatchWalk walk = new BatchWalk(map, op, 0, tokens, handler);
                if (walk.run(step(map.keySize() + map.valueBytes()))) {
                    return walk.count();
                }
            }
            unsupported.add(op);
        }
        long count = 0;
        for (byte[] key : map.keys()) {
            Optional<byte[]> value = single.apply(key);
            if (value.isPresent()) {
                count++;
                pass(handler, key, value.get());
            }
        }
        return count;
    }

    /** At most the map's capacity; otherwise a program that keeps pushing would make this loop endless. */
    private long pop(BiConsumer<? super MemorySegment, ? super MemorySegment> handler) {
        byte[] none = new byte[0];
        long max = Integer.toUnsignedLong(map.maxEntries());
        for (long taken = 0; taken < max; taken++) {
            Optional<byte[]> value = map.lookupAndDelete(none);
            if (value.isEmpty()) {
                return taken;
            }
            pass(handler, none, value.get());
        }
        return max;
    }

    /** In one step if the kernel supports it; else a program may write between the read and the deletion. */
    private Optional<byte[]> take(byte[] key) {
        try {
            return map.lookupAndDelete(key);
        } catch (SyscallException e) {
            if (!isUnsupported(e.errnoNumber())) {
                throw e;
            }
            // Another process deleted it first, so it is not counted here.
            return map.lookup(key).filter(_ -> map.delete(key));
        }
    }

    private static void pass(
            BiConsumer<? super MemorySegment, ? super MemorySegment> handler, byte[] key, byte[] value) {
        handler.accept(
                MemorySegment.ofArray(key).asReadOnly(),
                MemorySegment.ofArray(value).asReadOnly());
    }

    /** Creates or replaces elements, in order; throws at the first failure, after updating the elements before it. */
    void updateAll(MemorySegment keys, MemorySegment values, int count) {
        write(BatchOp.UPDATE, keys, values, map.valueBytes(), count);
    }

    /** Deletes elements; skips keys that do not exist. Returns the number of deleted elements. */
    int deleteAll(MemorySegment keys, int count) {
        return write(BatchOp.DELETE, keys, MemorySegment.NULL, 0, count);
    }

    /** Returns the number of elements that were updated or deleted. */
    private int write(BatchOp op, MemorySegment keys, MemorySegment values, long valueSize, int count) {
        long keySize = map.keySize();
        checkSize("keys", keys, count, keySize);
        checkSize("values", values, count, valueSize);
        int written = 0;
        int done = 0;
        int step = keys.isNative() && values.isNative() ? count : step(keySize + valueSize);
        while (done < count && !unsupported.contains(op)) {
            int size = Math.min(step, count - done);
            BatchResult result = batch(
                    op,
                    keys.asSlice(done * keySize, size * keySize),
                    values.asSlice(done * valueSize, size * valueSize),
                    size);
            if (result.errno() == 0) {
                written += size;
                done += size;
            } else if (op == BatchOp.DELETE && result.errno() == Errno.ENOENT.number()) {
                // The kernel stops at a key that does not exist.
                int before = result.count() < size ? result.count() : 0;
                written += before;
                done += before + 1;
            } else if (done == 0 && isUnsupported(result.errno())) {
                unsupported.add(op);
            } else {
                throw MapFailure.of(map, op.kernelName(), result.errno());
            }
        }
        for (; done < count; done++) {
            MemorySegment key = keys.asSlice(done * keySize, keySize);
            boolean changed = op == BatchOp.DELETE
                    ? map.delete(key)
                    : map.update(key, values.asSlice(done * valueSize, valueSize), UpdateMode.ANY);
            written += changed ? 1 : 0;
        }
        return written;
    }

    private BatchResult batch(BatchOp op, MemorySegment keys, MemorySegment values, int count) {
        try (Arena arena = Arena.ofConfined()) {
            return map.kernel()
                    .execute(new MapCommand.Batch(
                            op,
                            map.fd(),
                            MemorySegment.NULL,
                            MemorySegment.NULL,
                            inNativeMemory(keys, arena),
                            inNativeMemory(values, arena),
                            count,
                            0));
        }
    }

    private static MemorySegment inNativeMemory(MemorySegment segment, Arena arena) {
        return segment.isNative()
                ? segment
                : arena.allocate(segment.byteSize(), 8).copyFrom(segment);
    }

    /** Number of elements per step in the buffer. */
    private int step(long elementSize) {
        long max = Math.max(1, Integer.toUnsignedLong(map.maxEntries()));
        return (int) Math.min(max, Math.max(MIN_STEP, STEP_BYTES / Math.max(1, elementSize)));
    }

    private void checkSize(String part, MemorySegment segment, int count, long each) {
        if (count < 0 || segment.byteSize() != count * each) {
            throw new IllegalArgumentException("map \"" + map.name() + "\": " + count + " " + part + " of " + each
                    + " bytes each are " + count * each + " bytes, not " + segment.byteSize());
        }
    }

    static boolean isUnsupported(int errno) {
        return errno == Errno.EINVAL.number() || errno == Errno.ENOTSUPP.number() || errno == Errno.EOPNOTSUPP.number();
    }
}
