package io.bpf4j.loader.internal.sys;

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
        boolean gplCompatible) {}
