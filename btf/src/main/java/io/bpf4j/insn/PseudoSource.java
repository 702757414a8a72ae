package io.bpf4j.insn;

/**
 * Values of {@link Instruction#src()} that give the meaning of the immediate of a 64-bit load or a call.
 *
 * <p>Source: {@code include/uapi/linux/bpf.h}, {@code BPF_PSEUDO_*}.
 */
public final class PseudoSource {
    // Of a 64-bit immediate load
    /** A plain number. */
    public static final int NUMBER = 0;
    /** The address of a map: {@code imm} is its file descriptor. */
    public static final int MAP_FD = 1;
    /** The address inside an array map's value: {@code imm} the descriptor, second {@code imm} the byte offset. */
    public static final int MAP_VALUE = 2;
    /**
     * The address of a kernel variable: {@code imm} its BTF id, second {@code imm} the descriptor of a module's BTF.
     */
    public static final int BTF_ID = 3;
    /** The address of a subprogram: {@code imm} is the distance in slots from the next slot. */
    public static final int FUNC = 4;
    /** As {@link #MAP_FD}, but {@code imm} is an index into the {@code fd_array} of BPF_PROG_LOAD. */
    public static final int MAP_IDX = 5;
    /** As {@link #MAP_VALUE}, but the first {@code imm} is an index into {@code fd_array}. */
    public static final int MAP_IDX_VALUE = 6;

    // Of a call
    /** A helper: {@code imm} is its id. */
    public static final int HELPER_CALL = 0;
    /** A subprogram: {@code imm} is the distance in slots from the next slot. */
    public static final int CALL = 1;
    /** A kernel function: {@code imm} is its BTF id, {@code offset} an index into {@code fd_array} (0: vmlinux). */
    public static final int KFUNC_CALL = 2;

    private PseudoSource() {}
}
