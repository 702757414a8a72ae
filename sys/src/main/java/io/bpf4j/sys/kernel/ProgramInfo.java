package io.bpf4j.sys.kernel;

import java.time.Duration;
import java.util.List;

/**
 * The kernel's information about a program ({@code struct bpf_prog_info}). <i>Immutable.</i>
 *
 * @param id the kernel's id of the program, not reused while the machine is up
 * @param name as stored in the kernel, at most 15 bytes
 * @param typeNumber the kernel's number of the type
 * @param tag SHA-1 of the instructions, truncated to 64 bits, as 16 hexadecimal digits
 * @param instructionBytes bytes of the verified instructions, 8 each
 * @param machineCodeBytes bytes of machine code; 0 without a JIT compiler
 * @param verifiedInstructions instructions that the verifier processed, on all paths together (Linux 5.16)
 * @param mapIds the kernel's ids of the maps that it uses
 * @param btfId the kernel's id of the BTF of its functions; 0 for none
 * @param uid user who loaded it
 * @param gplCompatible whether its license is GPL-compatible, so that it may call all helpers
 * @param loadedAt when it was loaded, as time since boot
 * @param runTime time spent in the program while {@code RunStatistics} were on (Linux 5.1)
 * @param runCount runs while {@code RunStatistics} were on
 * @param missed runs skipped because the program was already running on that CPU (Linux 5.12)
 */
public record ProgramInfo(
        int id,
        String name,
        int typeNumber,
        String tag,
        int instructionBytes,
        int machineCodeBytes,
        int verifiedInstructions,
        List<Integer> mapIds,
        int btfId,
        int uid,
        boolean gplCompatible,
        Duration loadedAt,
        Duration runTime,
        long runCount,
        long missed) {
    public ProgramInfo {
        mapIds = List.copyOf(mapIds);
    }
}
