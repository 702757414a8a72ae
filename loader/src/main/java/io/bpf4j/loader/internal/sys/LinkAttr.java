package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;

/**
 * The parts of {@code union bpf_attr} for attaching: {@code link_create}, {@code link_update}, {@code link_detach},
 * {@code iter_create}, {@code prog_bind_map}, {@code raw_tracepoint}, and the struct of BPF_PROG_ATTACH
 * (include/uapi/linux/bpf.h, 6.18).
 */
final class LinkAttr {
    private static final long UPDATE_SIZE = 16;
    private static final StructLayout UPDATE =
            StructLayout.of("bpf_attr.link_update", "u32 link_fd", "u32 new_prog_fd", "u32 flags", "u32 old_prog_fd");

    /** BPF_F_REPLACE: only if the old program is the expected one. */
    private static final int REPLACE = 4;

    private static final long RAW_TRACEPOINT_SIZE = 24;
    private static final StructLayout RAW_TRACEPOINT =
            StructLayout.of("bpf_attr.raw_tracepoint", "u64 name", "u32 prog_fd", "u64 cookie");

    private static final long ATTACH_SIZE = 20;
    private static final StructLayout ATTACH = StructLayout.of(
            "bpf_attr",
            "u32 target_fd",
            "u32 attach_bpf_fd",
            "u32 attach_type",
            "u32 attach_flags",
            "u32 replace_bpf_fd");

    private static final long INTS_SIZE = 12;

    /** Four common fields, and fields specific to the kind of link from offset 16 on (7.3). */
    static final long CREATE_SIZE = 64;

    private static final StructLayout CREATE =
            StructLayout.of("bpf_attr.link_create", "u32 prog_fd", "u32 target_fd", "u32 attach_type", "u32 flags");
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
        UPDATE.set(attr, "link_fd", update.link().number());
        UPDATE.set(attr, "new_prog_fd", update.program().number());
        UPDATE.set(attr, "flags", update.flags() | (update.expected() == null ? 0 : REPLACE));
        UPDATE.set(attr, "old_prog_fd", Struct.fd(update.expected()));
        return UPDATE_SIZE;
    }

    static long encode(MemorySegment attr, SegmentAllocator memory, LinkCommand.OpenRawTracepoint open) {
        MemorySegment struct = attr.asSlice(0, RAW_TRACEPOINT_SIZE).fill((byte) 0);
        if (!open.tracepoint().isEmpty()) {
            RAW_TRACEPOINT.set(struct, "name", Struct.string(memory, open.tracepoint()));
        }
        RAW_TRACEPOINT.set(struct, "prog_fd", open.program().number());
        RAW_TRACEPOINT.set(struct, "cookie", open.cookie());
        return RAW_TRACEPOINT_SIZE;
    }

    static long encodeAttach(MemorySegment attr, Fd program, Fd target, int attachType, int flags) {
        ATTACH.set(attr, "target_fd", target.number());
        ATTACH.set(attr, "attach_bpf_fd", program.number());
        ATTACH.set(attr, "attach_type", attachType);
        ATTACH.set(attr, "attach_flags", flags);
        ATTACH.set(attr, "replace_bpf_fd", 0);
        return ATTACH_SIZE;
    }

    /** The structs of up to three u32: link_detach, iter_create, prog_bind_map, enable_stats, map_freeze. */
    static long encodeInts(MemorySegment attr, int first, int second, int third) {
        attr.set(U32, 0, first);
        attr.set(U32, 4, second);
        attr.set(U32, 8, third);
        return INTS_SIZE;
    }
}
