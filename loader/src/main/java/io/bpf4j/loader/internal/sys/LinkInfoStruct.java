package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * {@code struct bpf_link_info} (include/uapi/linux/bpf.h, 6.18): three numbers that all links have, and from offset 16
 * on a union by type.
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

    private LinkInfoStruct() {}

    static LinkInfo read(MemorySegment info, String text) {
        return new LinkInfo(
                info.get(U32, TYPE),
                info.get(U32, ID),
                info.get(U32, PROG_ID),
                info.asSlice(DETAIL, DETAIL_SIZE).toArray(ValueLayout.JAVA_BYTE),
                text);
    }

    /** Tells the kernel where to put the text of a link. */
    static void askText(MemorySegment ask, LinkInfo.TextField field, MemorySegment text) {
        MemorySegment detail = ask.asSlice(DETAIL);
        field.layout().set(detail, field.pointer(), text);
        field.layout().set(detail, field.length(), text.byteSize());
    }
}
