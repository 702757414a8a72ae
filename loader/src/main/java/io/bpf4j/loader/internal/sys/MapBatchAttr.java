package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;
import static io.bpf4j.loader.internal.sys.Struct.U64;

import java.lang.foreign.MemorySegment;

/** The part {@code batch} of {@code union bpf_attr}, for BPF_MAP_*_BATCH (include/uapi/linux/bpf.h, 6.18). */
final class MapBatchAttr {
    static final long SIZE = 56;

    private static final long IN_BATCH = 0;
    private static final long OUT_BATCH = 8;
    private static final long KEYS = 16;
    private static final long VALUES = 24;
    private static final long COUNT = 32;
    private static final long MAP_FD = 36;
    private static final long ELEM_FLAGS = 40;
    private static final long FLAGS = 48;

    private MapBatchAttr() {}

    static long encode(MemorySegment attr, MapCommand.Batch batch) {
        attr.set(U64, IN_BATCH, batch.position().address());
        attr.set(U64, OUT_BATCH, batch.nextPosition().address());
        attr.set(U64, KEYS, batch.keys().address());
        attr.set(U64, VALUES, batch.values().address());
        attr.set(U32, COUNT, batch.count());
        attr.set(U32, MAP_FD, batch.map().number());
        attr.set(U64, ELEM_FLAGS, batch.elementFlags());
        attr.set(U64, FLAGS, 0);
        return SIZE;
    }

    /** The number of processed elements: the kernel overwrites the requested number. */
    static int count(MemorySegment attr) {
        return attr.get(U32, COUNT);
    }
}
