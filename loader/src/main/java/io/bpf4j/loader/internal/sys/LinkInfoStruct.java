package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;
import static io.bpf4j.loader.internal.sys.Struct.U64;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * {@code struct bpf_link_info} (include/uapi/linux/bpf.h, 6.18): three numbers that all links have, and from offset 16 on
 * a union by type. Where that has a text, the caller has to say where to put it, and may do so only for the types that
 * have one; so a link is asked twice.
 */
final class LinkInfoStruct {
    static final long SIZE = 64;
    static final long DETAIL_SIZE = 48;

    /** PATH_MAX; names of kernel functions have up to 512 bytes. */
    static final long TEXT_SIZE = 4096;

    private static final long TYPE = 0;
    private static final long ID = 4;
    private static final long PROG_ID = 8;
    private static final long DETAIL = 16;

    private static final int RAW_TRACEPOINT = 1;
    private static final int ITER = 4;
    private static final int PERF_EVENT = 7;
    private static final int UPROBE_MULTI = 12;

    /** {@code raw_tracepoint.tp_name, iter.target_name}, each followed by its length. */
    private static final long NAME = 16;

    private static final long NAME_LEN = 24;

    /** {@code uprobe_multi.path}. */
    private static final long PATH = 16;

    private static final long PATH_SIZE = 48;

    /** {@code perf_event.type}, and the name in the union behind it; other events have none. */
    private static final long PERF_TYPE = 16;

    private static final long PERF_NAME = 24;
    private static final long PERF_NAME_LEN = 32;

    /** BPF_PERF_EVENT_UPROBE to BPF_PERF_EVENT_TRACEPOINT. */
    private static final int FIRST_NAMED = 1;

    private static final int LAST_NAMED = 5;

    private LinkInfoStruct() {}

    static LinkInfo read(MemorySegment info, String text) {
        return new LinkInfo(
                info.get(U32, TYPE),
                info.get(U32, ID),
                info.get(U32, PROG_ID),
                info.asSlice(DETAIL, DETAIL_SIZE).toArray(ValueLayout.JAVA_BYTE),
                text);
    }

    /**
     * Tells the kernel where to put the text of a link, if it has one.
     *
     * @param known what the kernel said the first time
     * @param ask zeroes, the second time
     * @return whether there is a text to ask for
     */
    static boolean askText(MemorySegment known, MemorySegment ask, MemorySegment text) {
        int size = (int) text.byteSize();
        switch (known.get(U32, TYPE)) {
            case RAW_TRACEPOINT, ITER -> {
                ask.set(U64, NAME, text.address());
                ask.set(U32, NAME_LEN, size);
            }
            case UPROBE_MULTI -> {
                ask.set(U64, PATH, text.address());
                ask.set(U32, PATH_SIZE, size);
            }
            case PERF_EVENT -> {
                int type = known.get(U32, PERF_TYPE);
                if (type < FIRST_NAMED || type > LAST_NAMED) {
                    return false;
                }
                ask.set(U64, PERF_NAME, text.address());
                ask.set(U32, PERF_NAME_LEN, size);
            }
            default -> {
                return false;
            }
        }
        return true;
    }
}
