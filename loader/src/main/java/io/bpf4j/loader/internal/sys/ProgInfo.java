package io.bpf4j.loader.internal.sys;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.HexFormat;

/**
 * The kernel's information about a program ({@code struct bpf_prog_info}). <i>Immutable.</i>
 *
 * @param type the kernel's number
 * @param id the kernel's id of the program
 * @param tag SHA-1 of the instructions, cut to 64 bits, as 16 hex digits
 * @param jitedSize bytes of machine code; 0 without a JIT
 * @param translatedSize bytes of instructions after the verifier
 * @param runNanos time spent in it; 0 unless statistics are on
 * @param runCount runs; 0 unless statistics are on
 * @param missed runs that the kernel left out because the program was already running on that CPU
 * @param verifiedInstructions instructions that the verifier processed
 * @param loadedAtNanos when it was loaded, since boot
 * @param uid user who loaded it
 * @param mapCount maps that it uses
 */
public record ProgInfo(
        int type,
        int id,
        String tag,
        String name,
        int jitedSize,
        int translatedSize,
        int btfId,
        long runNanos,
        long runCount,
        long missed,
        int verifiedInstructions,
        long loadedAtNanos,
        int uid,
        int mapCount,
        boolean gplCompatible) {
    static final StructLayout LAYOUT = StructLayout.of("bpf_prog_info", """
            u32 type, id;
            u8 tag[8];
            u32 jited_prog_len, xlated_prog_len;
            u64 jited_prog_insns, xlated_prog_insns, load_time;
            u32 created_by_uid, nr_map_ids;
            u64 map_ids;
            u8 name[16];
            u32 ifindex, gpl_compatible;
            u64 netns_dev, netns_ino;
            u32 nr_jited_ksyms, nr_jited_func_lens;
            u64 jited_ksyms, jited_func_lens;
            u32 btf_id, func_info_rec_size;
            u64 func_info;
            u32 nr_func_info, nr_line_info;
            u64 line_info, jited_line_info;
            u32 nr_jited_line_info, line_info_rec_size, jited_line_info_rec_size, nr_prog_tags;
            u64 prog_tags, run_time_ns, run_cnt, recursion_misses;
            u32 verified_insns;
            """);

    /** The first bit-field of its word. */
    private static final int GPL_COMPATIBLE = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? 1 : 1 << 31;

    /** An older kernel leaves unknown fields 0. */
    static ProgInfo read(MemorySegment info) {
        return new ProgInfo(
                LAYOUT.u32(info, "type"),
                LAYOUT.u32(info, "id"),
                HexFormat.of().formatHex(LAYOUT.slice(info, "tag").toArray(ValueLayout.JAVA_BYTE)),
                Struct.text(LAYOUT.slice(info, "name")),
                LAYOUT.u32(info, "jited_prog_len"),
                LAYOUT.u32(info, "xlated_prog_len"),
                LAYOUT.u32(info, "btf_id"),
                LAYOUT.u64(info, "run_time_ns"),
                LAYOUT.u64(info, "run_cnt"),
                LAYOUT.u64(info, "recursion_misses"),
                LAYOUT.u32(info, "verified_insns"),
                LAYOUT.u64(info, "load_time"),
                LAYOUT.u32(info, "created_by_uid"),
                LAYOUT.u32(info, "nr_map_ids"),
                (LAYOUT.u32(info, "gpl_compatible") & GPL_COMPATIBLE) != 0);
    }
}
