package io.bpf4j.loader.internal.map;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Native memory for one key and one value from the heap; grows to the largest that its thread used. <i>Confined.</i>
 *
 * <p>Tested by {@code KernelMapTest}.
 */
final class NativeScratch {
    private static final ThreadLocal<NativeScratch> LOCAL = ThreadLocal.withInitial(NativeScratch::new);

    // Automatic: freed after the thread ends.
    private MemorySegment key = Arena.ofAuto().allocate(64, 8);
    private MemorySegment value = Arena.ofAuto().allocate(256, 8);

    private NativeScratch() {}

    static NativeScratch get() {
        return LOCAL.get();
    }

    /** The key itself if it is native, else a copy. */
    MemorySegment key(MemorySegment from) {
        if (from.byteSize() == 0) {
            return MemorySegment.NULL; // required by the kernel for maps without keys
        }
        if (from.isNative()) {
            return from;
        }
        if (key.byteSize() < from.byteSize()) {
            key = Arena.ofAuto().allocate(from.byteSize(), 8);
        }
        MemorySegment.copy(from, 0, key, 0, from.byteSize());
        return key;
    }

    /** The value itself if it is native, else a copy. */
    MemorySegment value(MemorySegment from) {
        return from.isNative() ? from : value(from.byteSize()).copyFrom(from);
    }

    /** Memory for a value, with leftover bytes of earlier values. */
    MemorySegment value(long size) {
        if (value.byteSize() < size) {
            value = Arena.ofAuto().allocate(size, 8);
        }
        return value.asSlice(0, size);
    }
}
