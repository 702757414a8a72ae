package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;
import static io.bpf4j.loader.internal.sys.Struct.U64;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.List;

/**
 * The part {@code link_create} of {@code union bpf_attr} (include/uapi/linux/bpf.h, 7.3): four fields in front, and a
 * union of what the attach type needs from offset 16 on.
 */
final class LinkCreateAttr {
    static final long SIZE = 64;

    private static final long PROG_FD = 0;
    private static final long TARGET_FD = 4; // also target_ifindex
    private static final long ATTACH_TYPE = 8;
    private static final long FLAGS = 12;

    private static final long ITER_INFO = 16;
    private static final long ITER_INFO_LEN = 24;

    private static final long PERF_COOKIE = 16;

    private static final long TRACING_TARGET_BTF_ID = 16;
    private static final long TRACING_COOKIE = 24;

    private static final long TRACINGS_IDS = 16; // since 7.2
    private static final long TRACINGS_COOKIES = 24;
    private static final long TRACINGS_CNT = 32;

    private static final long NETFILTER_PF = 16;
    private static final long NETFILTER_HOOKNUM = 20;
    private static final long NETFILTER_PRIORITY = 24;
    private static final long NETFILTER_FLAGS = 28;

    private static final long RELATIVE = 16; // fd or id, by a flag
    private static final long EXPECTED_REVISION = 24;

    private static final long KPROBES_FLAGS = 16;
    private static final long KPROBES_CNT = 20;
    private static final long KPROBES_SYMS = 24;
    private static final long KPROBES_ADDRS = 32;
    private static final long KPROBES_COOKIES = 40;

    private static final long UPROBES_PATH = 16;
    private static final long UPROBES_OFFSETS = 24;
    private static final long UPROBES_REF_CTR_OFFSETS = 32;
    private static final long UPROBES_COOKIES = 40;
    private static final long UPROBES_CNT = 48;
    private static final long UPROBES_FLAGS = 52;
    private static final long UPROBES_PID = 56;
    private static final long UPROBES_PATH_FD = 60; // since 7.2

    /** BPF_F_KPROBE_MULTI_RETURN and BPF_F_UPROBE_MULTI_RETURN. */
    private static final int RETURNS = 1;

    /** BPF_F_UPROBE_MULTI_PATH_FD. */
    private static final int PATH_FD = 2;

    private LinkCreateAttr() {}

    static long encode(MemorySegment attr, SegmentAllocator memory, LinkCommand.Create create) {
        attr.asSlice(0, SIZE).fill((byte) 0);
        attr.set(U32, PROG_FD, create.program().number());
        attr.set(
                U32,
                TARGET_FD,
                create.target() == null ? create.targetIndex() : create.target().number());
        attr.set(U32, ATTACH_TYPE, create.attachType());
        attr.set(U32, FLAGS, create.flags());
        switch (create.details()) {
            case LinkCommand.Details.None _ -> {}
            case LinkCommand.Details.Iter iter -> {
                attr.set(U64, ITER_INFO, Struct.bytes(memory, iter.info()).address());
                attr.set(U32, ITER_INFO_LEN, iter.info().length);
            }
            case LinkCommand.Details.PerfEvent perf -> attr.set(U64, PERF_COOKIE, perf.cookie());
            case LinkCommand.Details.Tracing tracing -> {
                attr.set(U32, TRACING_TARGET_BTF_ID, tracing.targetBtfId());
                attr.set(U64, TRACING_COOKIE, tracing.cookie());
            }
            case LinkCommand.Details.TracingMulti many -> {
                attr.set(
                        U64, TRACINGS_IDS, Struct.ints(memory, many.functions()).address());
                attr.set(
                        U64,
                        TRACINGS_COOKIES,
                        Struct.longs(memory, many.cookies()).address());
                attr.set(U32, TRACINGS_CNT, many.functions().length);
            }
            case LinkCommand.Details.Netfilter netfilter -> {
                attr.set(U32, NETFILTER_PF, netfilter.family());
                attr.set(U32, NETFILTER_HOOKNUM, netfilter.hook());
                attr.set(U32, NETFILTER_PRIORITY, netfilter.priority());
                attr.set(U32, NETFILTER_FLAGS, netfilter.flags());
            }
            case LinkCommand.Details.Ordered ordered -> {
                attr.set(
                        U32,
                        RELATIVE,
                        ordered.relative() == null
                                ? ordered.relativeId()
                                : ordered.relative().number());
                attr.set(U64, EXPECTED_REVISION, ordered.expectedRevision());
            }
            case LinkCommand.Details.KprobeMulti kprobes -> encode(attr, memory, kprobes);
            case LinkCommand.Details.UprobeMulti uprobes -> encode(attr, memory, uprobes);
        }
        return SIZE;
    }

    private static void encode(MemorySegment attr, SegmentAllocator memory, LinkCommand.Details.KprobeMulti kprobes) {
        List<String> symbols = kprobes.symbols();
        attr.set(U32, KPROBES_FLAGS, kprobes.returns() ? RETURNS : 0);
        attr.set(U32, KPROBES_CNT, symbols.isEmpty() ? kprobes.addresses().length : symbols.size());
        if (!symbols.isEmpty()) {
            long[] pointers = new long[symbols.size()];
            for (int i = 0; i < pointers.length; i++) {
                pointers[i] = Struct.string(memory, symbols.get(i)).address();
            }
            attr.set(U64, KPROBES_SYMS, Struct.longs(memory, pointers).address());
        }
        attr.set(U64, KPROBES_ADDRS, Struct.longs(memory, kprobes.addresses()).address());
        attr.set(U64, KPROBES_COOKIES, Struct.longs(memory, kprobes.cookies()).address());
    }

    private static void encode(MemorySegment attr, SegmentAllocator memory, LinkCommand.Details.UprobeMulti uprobes) {
        int byDescriptor = 0;
        if (uprobes.descriptor().isPresent()) {
            attr.set(U32, UPROBES_PATH_FD, uprobes.descriptor().getAsInt());
            byDescriptor = PATH_FD;
        } else {
            attr.set(U64, UPROBES_PATH, Struct.string(memory, uprobes.path()).address());
        }
        attr.set(U64, UPROBES_OFFSETS, Struct.longs(memory, uprobes.offsets()).address());
        attr.set(
                U64,
                UPROBES_REF_CTR_OFFSETS,
                Struct.longs(memory, uprobes.refCounterOffsets()).address());
        attr.set(U64, UPROBES_COOKIES, Struct.longs(memory, uprobes.cookies()).address());
        attr.set(U32, UPROBES_CNT, uprobes.offsets().length);
        attr.set(U32, UPROBES_FLAGS, uprobes.flags() | byDescriptor | (uprobes.returns() ? RETURNS : 0));
        attr.set(U32, UPROBES_PID, uprobes.pid());
    }
}
