package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;
import static io.bpf4j.loader.internal.sys.Struct.U64;

import java.lang.foreign.MemorySegment;

/** The part of {@code union bpf_attr} for BPF_MAP_*_ELEM and BPF_MAP_GET_NEXT_KEY (include/uapi/linux/bpf.h, 6.18). */
final class MapElementAttr {
    static final long SIZE = 32;

    private static final long MAP_FD = 0;
    private static final long PADDING = 4;
    private static final long KEY = 8;
    private static final long VALUE = 16; // also next_key
    private static final long FLAGS = 24;

    private MapElementAttr() {}

    /** Writes every byte, so that the struct need not be cleared first: this runs for each map operation. */
    static long encode(MemorySegment attr, int fd, MemorySegment key, MemorySegment value, long flags) {
        attr.set(U32, MAP_FD, fd);
        attr.set(U32, PADDING, 0);
        attr.set(U64, KEY, key.address());
        attr.set(U64, VALUE, value.address());
        attr.set(U64, FLAGS, flags);
        return SIZE;
    }
}
