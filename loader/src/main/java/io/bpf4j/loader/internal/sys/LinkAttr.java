package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;
import static io.bpf4j.loader.internal.sys.Struct.U64;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * The parts of {@code union bpf_attr} for attaching: {@code link_create}, {@code link_update}, {@code link_detach}, {@code
 * iter_create}, {@code prog_bind_map}, {@code raw_tracepoint}, and the one of BPF_PROG_ATTACH (include/uapi/linux/bpf.h,
 * 6.18).
 */
final class LinkAttr {
    private static final long UPDATE_SIZE = 16;
    private static final long UPDATE_LINK_FD = 0;
    private static final long UPDATE_NEW_PROG_FD = 4;
    private static final long UPDATE_FLAGS = 8;
    private static final long UPDATE_OLD_PROG_FD = 12;

    /** BPF_F_REPLACE: only if the old program is the one we think. */
    private static final int REPLACE = 4;

    private static final long RAW_TRACEPOINT_SIZE = 24;
    private static final long RAW_TRACEPOINT_NAME = 0;
    private static final long RAW_TRACEPOINT_PROG_FD = 8;
    private static final long RAW_TRACEPOINT_COOKIE = 16;

    private static final long ATTACH_SIZE = 20;
    private static final long ATTACH_TARGET_FD = 0;
    private static final long ATTACH_BPF_FD = 4;
    private static final long ATTACH_TYPE = 8;
    private static final long ATTACH_FLAGS = 12;

    private static final long INTS_SIZE = 12;

    /** Four fields in front, and what the kind of link adds from offset 16 on (7.3). */
    static final long CREATE_SIZE = 64;

    private static final StructLayout CREATE = StructLayout.of(
            "bpf_attr.link_create", "u32 prog_fd", "u32 target_fd", "u32 attach_type", "u32 flags");
    private static final long CREATE_DETAILS = 16;

    private LinkAttr() {}

    static long encode(MemorySegment attr, SegmentAllocator memory, LinkCommand.Create create) {
        MemorySegment struct = attr.asSlice(0, CREATE_SIZE).fill((byte) 0);
        Fd target = create.target();
        CREATE.set(struct, "prog_fd", create.program().number());
        CREATE.set(struct, "target_fd", target == null ? create.targetIndex() : target.number());
        CREATE.set(struct, "attach_type", create.attachType());
        CREATE.set(struct, "flags", create.flags());
        create.details().encode(struct.asSlice(CREATE_DETAILS), memory);
        return CREATE_SIZE;
    }

    static long encode(MemorySegment attr, LinkCommand.Update update) {
        attr.set(U32, UPDATE_LINK_FD, update.link().number());
        attr.set(U32, UPDATE_NEW_PROG_FD, update.program().number());
        attr.set(U32, UPDATE_FLAGS, update.flags() | (update.expected() == null ? 0 : REPLACE));
        attr.set(U32, UPDATE_OLD_PROG_FD, Struct.fd(update.expected()));
        return UPDATE_SIZE;
    }

    static long encode(MemorySegment attr, SegmentAllocator memory, LinkCommand.OpenRawTracepoint open) {
        attr.asSlice(0, RAW_TRACEPOINT_SIZE).fill((byte) 0);
        if (!open.tracepoint().isEmpty()) {
            attr.set(
                    U64,
                    RAW_TRACEPOINT_NAME,
                    Struct.string(memory, open.tracepoint()).address());
        }
        attr.set(U32, RAW_TRACEPOINT_PROG_FD, open.program().number());
        attr.set(U64, RAW_TRACEPOINT_COOKIE, open.cookie());
        return RAW_TRACEPOINT_SIZE;
    }

    static long encodeAttach(MemorySegment attr, Fd program, Fd target, int attachType, int flags) {
        attr.asSlice(0, ATTACH_SIZE).fill((byte) 0);
        attr.set(U32, ATTACH_TARGET_FD, target.number());
        attr.set(U32, ATTACH_BPF_FD, program.number());
        attr.set(U32, ATTACH_TYPE, attachType);
        attr.set(U32, ATTACH_FLAGS, flags);
        return ATTACH_SIZE;
    }

    /** The structs that are up to three u32: link_detach, iter_create, prog_bind_map, enable_stats, map_freeze. */
    static long encodeInts(MemorySegment attr, int first, int second, int third) {
        attr.set(U32, 0, first);
        attr.set(U32, 4, second);
        attr.set(U32, 8, third);
        return INTS_SIZE;
    }
}
