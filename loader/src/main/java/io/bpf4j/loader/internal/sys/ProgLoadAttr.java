package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;
import static io.bpf4j.loader.internal.sys.Struct.U64;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * The part of {@code union bpf_attr} for BPF_PROG_LOAD (include/uapi/linux/bpf.h, 6.18), up to {@code log_true_size}.
 *
 * <p>{@code fd_array_cnt}, which follows, is not used: with it the kernel also binds the maps of the array to the
 * program.
 */
final class ProgLoadAttr {
    static final long SIZE = 144;

    private static final int INSTRUCTION_SIZE = 8;

    private static final long PROG_TYPE = 0;
    private static final long INSN_CNT = 4;
    private static final long INSNS = 8;
    private static final long LICENSE = 16;
    private static final long LOG_LEVEL = 24;
    private static final long LOG_SIZE = 28;
    private static final long LOG_BUF = 32;
    private static final long KERN_VERSION = 40;
    private static final long PROG_FLAGS = 44;
    private static final long PROG_NAME = 48;
    private static final long PROG_IFINDEX = 64;
    private static final long EXPECTED_ATTACH_TYPE = 68;
    private static final long PROG_BTF_FD = 72;
    private static final long FUNC_INFO_REC_SIZE = 76;
    private static final long FUNC_INFO = 80;
    private static final long FUNC_INFO_CNT = 88;
    private static final long LINE_INFO_REC_SIZE = 92;
    private static final long LINE_INFO = 96;
    private static final long LINE_INFO_CNT = 104;
    private static final long ATTACH_BTF_ID = 108;
    private static final long ATTACH_PROG_FD = 112; // also attach_btf_obj_fd
    private static final long FD_ARRAY = 120;
    private static final long LOG_TRUE_SIZE = 140;

    private ProgLoadAttr() {}

    static long encode(MemorySegment attr, SegmentAllocator memory, ProgCommand.Load load, MemorySegment log) {
        attr.asSlice(0, SIZE).fill((byte) 0);
        attr.set(U32, PROG_TYPE, load.type());
        attr.set(U32, INSN_CNT, load.instructions().length / INSTRUCTION_SIZE);
        attr.set(U64, INSNS, Struct.bytes(memory, load.instructions()).address());
        attr.set(U64, LICENSE, Struct.string(memory, load.license()).address());
        if (load.log().level() != 0) {
            attr.set(U32, LOG_LEVEL, load.log().level());
            attr.set(U32, LOG_SIZE, (int) log.byteSize());
            attr.set(U64, LOG_BUF, log.address());
        }
        attr.set(U32, KERN_VERSION, load.kernelVersion());
        attr.set(U32, PROG_FLAGS, load.flags());
        Struct.name(attr, PROG_NAME, load.name());
        attr.set(U32, PROG_IFINDEX, load.ifindex());
        attr.set(U32, EXPECTED_ATTACH_TYPE, load.expectedAttachType());
        if (load.btf() != null) {
            attr.set(U32, PROG_BTF_FD, load.btf().number());
            attr.set(U32, FUNC_INFO_REC_SIZE, load.funcInfo().recordSize());
            attr.set(
                    U64,
                    FUNC_INFO,
                    Struct.bytes(memory, load.funcInfo().records()).address());
            attr.set(U32, FUNC_INFO_CNT, load.funcInfo().count());
            attr.set(U32, LINE_INFO_REC_SIZE, load.lineInfo().recordSize());
            attr.set(
                    U64,
                    LINE_INFO,
                    Struct.bytes(memory, load.lineInfo().records()).address());
            attr.set(U32, LINE_INFO_CNT, load.lineInfo().count());
        }
        attr.set(U32, ATTACH_BTF_ID, load.attachBtfId());
        attr.set(U32, ATTACH_PROG_FD, Struct.fd(load.attachTarget()));
        if (!load.fdArray().isEmpty()) {
            int[] numbers = load.fdArray().stream().mapToInt(Fd::number).toArray();
            attr.set(U64, FD_ARRAY, memory.allocateFrom(U32, numbers).address());
        }
        return SIZE;
    }

    /** Bytes that the whole log needs, with its NUL; 0 on kernels that do not report it. */
    static int logTrueSize(MemorySegment attr) {
        return attr.get(U32, LOG_TRUE_SIZE);
    }
}
