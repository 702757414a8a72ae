package io.bpf4j.loader.internal.sys;

import java.lang.foreign.MemorySegment;

/**
 * What the kernel says about a link ({@code struct bpf_link_info}). <i>Immutable</i> as long as the bytes are left alone.
 *
 * @param type the kernel's number ({@code enum bpf_link_type})
 * @param id the kernel's id of the link
 * @param programId the kernel's id of the attached program
 * @param detail the union that follows: what it holds depends on the type, which has a layout for it
 * @param text what the union points at: the name of a tracepoint, function or kind of iterator, the path of a file
 */
@SuppressWarnings("ArrayRecordComponent") // handed over once, never compared
public record LinkInfo(int type, int id, int programId, byte[] detail, String text) {
    /**
     * Where the union points at a text. The caller says where to put it, and may do so only for the types that have one.
     *
     * @param pointer name of the field for the address
     * @param length name of the field for the room, in bytes
     */
    public record TextField(StructLayout layout, String pointer, String length) {}

    /** Without what the type adds. */
    public LinkInfo(int type, int id, int programId) {
        this(type, id, programId, new byte[(int) LinkInfoStruct.DETAIL_SIZE], "");
    }

    public int u32(StructLayout layout, String field) {
        return layout.u32(MemorySegment.ofArray(detail), field);
    }

    public long u64(StructLayout layout, String field) {
        return layout.u64(MemorySegment.ofArray(detail), field);
    }
}
