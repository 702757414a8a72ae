package io.bpf4j.loader.internal.sys;

/**
 * What the kernel says about a link ({@code struct bpf_link_info}). <i>Immutable</i> as long as the bytes are left alone.
 *
 * @param type the kernel's number ({@code enum bpf_link_type})
 * @param id the kernel's id of the link
 * @param programId the kernel's id of the attached program
 * @param detail the union that follows: what it holds depends on the type, see {@link LinkInfoStruct}
 * @param text what the union points at: the name of a tracepoint, function or kind of iterator, the path of a file
 */
@SuppressWarnings("ArrayRecordComponent") // handed over once, never compared
public record LinkInfo(int type, int id, int programId, byte[] detail, String text) {
    /** Without what the type adds. */
    public LinkInfo(int type, int id, int programId) {
        this(type, id, programId, new byte[(int) LinkInfoStruct.DETAIL_SIZE], "");
    }
}
