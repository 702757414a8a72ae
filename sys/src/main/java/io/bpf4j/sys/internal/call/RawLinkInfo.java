package io.bpf4j.sys.internal.call;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * The kernel's information about a link ({@code struct bpf_link_info}). <i>Immutable</i> as long as the bytes are not
 * modified.
 *
 * @param type the kernel's number ({@code enum bpf_link_type})
 * @param id the kernel's id of the link
 * @param programId the kernel's id of the attached program
 * @param detail the union that follows; its layout depends on the type
 * @param text the text that the union points to: the name of a tracepoint, function or kind of iterator, the path of a
 *     file
 */
@SuppressWarnings("ArrayRecordComponent") // passed on once, never compared
public record RawLinkInfo(int type, int id, int programId, byte[] detail, String text) {
    /**
     * A text field in the union. The caller passes a buffer for it, only for types that have a text.
     *
     * @param pointer name of the field for the address
     * @param length name of the field for the buffer's size, in bytes
     */
    public record TextField(StructLayout layout, String pointer, String length) {
        /** Sets the buffer that the kernel fills with the text. */
        void request(MemorySegment info, MemorySegment text) {
            MemorySegment detail = info.asSlice(DETAIL);
            layout.set(detail, pointer, text);
            layout.set(detail, length, text.byteSize());
        }
    }

    /**
     * The arrays in the union with a number of 8 bytes for each site of a link. The caller allocates them.
     *
     * @param pointers the names of the fields with the addresses of the arrays
     * @param count the name of the field with the number of sites
     */
    public record SiteFields(StructLayout layout, List<String> pointers, String count) {
        /** Sets the addresses of the arrays, which the kernel fills. */
        void request(MemorySegment info, List<MemorySegment> arrays, int sites) {
            MemorySegment detail = info.asSlice(DETAIL);
            for (int i = 0; i < arrays.size(); i++) {
                layout.set(detail, pointers.get(i), arrays.get(i));
            }
            layout.set(detail, count, sites);
        }
    }

    private static final StructLayout LAYOUT = StructLayout.of("bpf_link_info", "u32 type, id, prog_id");
    private static final int DETAIL = 16;
    private static final int DETAIL_SIZE = 48;
    static final int SIZE = DETAIL + DETAIL_SIZE;

    static RawLinkInfo read(MemorySegment info, String text) {
        return new RawLinkInfo(
                LAYOUT.u32(info, "type"),
                LAYOUT.u32(info, "id"),
                LAYOUT.u32(info, "prog_id"),
                info.asSlice(DETAIL, DETAIL_SIZE).toArray(ValueLayout.JAVA_BYTE),
                text);
    }

    public int u32(StructLayout layout, String field) {
        return layout.u32(MemorySegment.ofArray(detail), field);
    }

    public long u64(StructLayout layout, String field) {
        return layout.u64(MemorySegment.ofArray(detail), field);
    }
}
