package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;
import static io.bpf4j.loader.internal.sys.Struct.U64;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.nio.file.Path;

/** The parts of {@code union bpf_attr} for pins, ids and information (include/uapi/linux/bpf.h, 6.18). */
final class ObjectAttr {
    private static final long PIN_SIZE = 16;
    private static final long PATHNAME = 0;
    private static final long BPF_FD = 8;
    private static final long FILE_FLAGS = 12;

    private static final long ID_SIZE = 12;
    private static final long START_ID = 0;
    private static final long NEXT_ID = 4;

    private static final long INFO_SIZE = 16;
    private static final long INFO_FD = 0;
    private static final long INFO_LEN = 4;
    private static final long INFO = 8;

    private ObjectAttr() {}

    static long encodePin(MemorySegment attr, SegmentAllocator memory, Path path, int fd, int flags) {
        attr.set(U64, PATHNAME, Struct.path(memory, path).address());
        attr.set(U32, BPF_FD, fd);
        attr.set(U32, FILE_FLAGS, flags);
        return PIN_SIZE;
    }

    static long encodeId(MemorySegment attr, int id) {
        attr.asSlice(0, ID_SIZE).fill((byte) 0);
        attr.set(U32, START_ID, id);
        return ID_SIZE;
    }

    static int nextId(MemorySegment attr) {
        return attr.get(U32, NEXT_ID);
    }

    static long encodeInfo(MemorySegment attr, int fd, MemorySegment info) {
        attr.set(U32, INFO_FD, fd);
        attr.set(U32, INFO_LEN, (int) info.byteSize());
        attr.set(U64, INFO, info.address());
        return INFO_SIZE;
    }
}
