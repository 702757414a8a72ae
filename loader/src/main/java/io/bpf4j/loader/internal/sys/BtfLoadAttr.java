package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;
import static io.bpf4j.loader.internal.sys.Struct.U64;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/** The part of {@code union bpf_attr} for BPF_BTF_LOAD (include/uapi/linux/bpf.h, 6.18), up to the log. */
final class BtfLoadAttr {
    static final long SIZE = 32;

    private static final long BTF = 0;
    private static final long BTF_LOG_BUF = 8;
    private static final long BTF_SIZE = 16;
    private static final long BTF_LOG_SIZE = 20;
    private static final long BTF_LOG_LEVEL = 24;
    private static final long BTF_LOG_TRUE_SIZE = 28;

    private BtfLoadAttr() {}

    static long encode(MemorySegment attr, SegmentAllocator memory, ProgCommand.LoadBtf load, MemorySegment log) {
        attr.asSlice(0, SIZE).fill((byte) 0);
        attr.set(U64, BTF, Struct.bytes(memory, load.btf()).address());
        attr.set(U32, BTF_SIZE, load.btf().length);
        if (load.log().level() != 0) {
            attr.set(U64, BTF_LOG_BUF, log.address());
            attr.set(U32, BTF_LOG_SIZE, (int) log.byteSize());
            attr.set(U32, BTF_LOG_LEVEL, load.log().level());
        }
        return SIZE;
    }

    static int logTrueSize(MemorySegment attr) {
        return attr.get(U32, BTF_LOG_TRUE_SIZE);
    }
}
