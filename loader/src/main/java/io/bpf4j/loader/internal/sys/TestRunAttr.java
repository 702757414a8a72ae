package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;
import static io.bpf4j.loader.internal.sys.Struct.U64;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;

/** The part {@code test} of {@code union bpf_attr}, for BPF_PROG_TEST_RUN (include/uapi/linux/bpf.h, 6.18). */
final class TestRunAttr {
    static final long SIZE = 80;

    private static final long PROG_FD = 0;
    private static final long RETVAL = 4;
    private static final long DATA_SIZE_IN = 8;
    private static final long DATA_SIZE_OUT = 12;
    private static final long DATA_IN = 16;
    private static final long DATA_OUT = 24;
    private static final long REPEAT = 32;
    private static final long DURATION = 36;
    private static final long CTX_SIZE_IN = 40;
    private static final long CTX_SIZE_OUT = 44;
    private static final long CTX_IN = 48;
    private static final long CTX_OUT = 56;
    private static final long FLAGS = 64;
    private static final long CPU = 68;
    private static final long BATCH_SIZE = 72;

    private TestRunAttr() {}

    static long encode(
            MemorySegment attr,
            SegmentAllocator memory,
            ProgCommand.TestRun run,
            MemorySegment dataOut,
            MemorySegment contextIn,
            MemorySegment contextOut) {
        attr.asSlice(0, SIZE).fill((byte) 0);
        attr.set(U32, PROG_FD, run.program().number());
        attr.set(U32, DATA_SIZE_IN, run.data().length);
        attr.set(U64, DATA_IN, Struct.bytes(memory, run.data()).address());
        attr.set(U32, DATA_SIZE_OUT, (int) dataOut.byteSize());
        attr.set(U64, DATA_OUT, dataOut.address());
        attr.set(U32, CTX_SIZE_IN, run.context().length);
        attr.set(U64, CTX_IN, contextIn.address());
        attr.set(U32, CTX_SIZE_OUT, (int) contextOut.byteSize());
        attr.set(U64, CTX_OUT, contextOut.address());
        attr.set(U32, REPEAT, run.repeat());
        attr.set(U32, FLAGS, run.flags());
        attr.set(U32, CPU, run.cpu());
        attr.set(U32, BATCH_SIZE, run.batchSize());
        return SIZE;
    }

    /**
     * If no output buffer for the context was requested, the result is the modified input context: syscall programs
     * return results this way.
     */
    static ProgCommand.TestRunResult result(
            MemorySegment attr, MemorySegment dataOut, MemorySegment contextIn, MemorySegment contextOut) {
        return new ProgCommand.TestRunResult(
                attr.get(U32, RETVAL),
                attr.get(U32, DURATION),
                filled(dataOut, attr.get(U32, DATA_SIZE_OUT)),
                contextOut.byteSize() == 0
                        ? contextIn.toArray(ValueLayout.JAVA_BYTE)
                        : filled(contextOut, attr.get(U32, CTX_SIZE_OUT)));
    }

    private static byte[] filled(MemorySegment buffer, int size) {
        return buffer.asSlice(0, Math.min(buffer.byteSize(), Integer.toUnsignedLong(size)))
                .toArray(ValueLayout.JAVA_BYTE);
    }
}
