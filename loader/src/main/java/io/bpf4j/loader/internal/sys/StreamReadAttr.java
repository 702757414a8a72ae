package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;
import static io.bpf4j.loader.internal.sys.Struct.U64;

import java.lang.foreign.MemorySegment;

/** {@code prog_stream_read} of {@code union bpf_attr} (include/uapi/linux/bpf.h, 6.18). */
final class StreamReadAttr {
    private static final long BUFFER = 0;
    private static final long BUFFER_SIZE = 8;
    private static final long STREAM_ID = 12;
    private static final long PROG_FD = 16;
    private static final long SIZE = 20;

    private StreamReadAttr() {}

    static long encode(MemorySegment attr, ProgCommand.ReadStream read, MemorySegment bytes) {
        attr.set(U64, BUFFER, bytes.address());
        attr.set(U32, BUFFER_SIZE, read.room());
        attr.set(U32, STREAM_ID, read.stream());
        attr.set(U32, PROG_FD, read.program().number());
        return SIZE;
    }
}
