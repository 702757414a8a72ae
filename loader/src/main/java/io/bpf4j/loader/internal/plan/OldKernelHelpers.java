package io.bpf4j.loader.internal.plan;

import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.kernel.Feature;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Helpers that an older kernel lacks, each replaced by one that it has and that takes the same arguments.
 *
 * <p>Before Linux 5.5 one helper read memory of kernel and user alike (commit 6ae08ae3dea2 split it: on some machines
 * one address means different things to the two). Where the newer ones are missing, the old one does what they would.
 */
public final class OldKernelHelpers {
    private static final int PROBE_READ = 4;
    private static final int PROBE_READ_STR = 45;
    private static final int PROBE_READ_USER = 112;
    private static final int PROBE_READ_KERNEL = 113;
    private static final int PROBE_READ_USER_STR = 114;
    private static final int PROBE_READ_KERNEL_STR = 115;

    private static final Map<Integer, Integer> PROBE_READS = Map.of(
            PROBE_READ_USER, PROBE_READ,
            PROBE_READ_KERNEL, PROBE_READ,
            PROBE_READ_USER_STR, PROBE_READ_STR,
            PROBE_READ_KERNEL_STR, PROBE_READ_STR);

    private OldKernelHelpers() {}

    /** Whether a kernel that lacks this helper gets another one. */
    public static boolean hasStandIn(int helper) {
        return PROBE_READS.containsKey(helper);
    }

    /** The code as the kernel can take it; the same list where nothing has to change. */
    static List<Instruction> fitted(List<Instruction> code, Features features) {
        // The code first: a probe costs system calls, and most programs on a new kernel need none.
        boolean calls = false;
        for (Instruction instruction : code) {
            calls |= instruction.isHelperCall() && PROBE_READS.containsKey(instruction.imm());
        }
        if (!calls || !features.lacks(Feature.PROBE_READ_KERNEL)) {
            return code;
        }
        List<Instruction> fitted = new ArrayList<>(code);
        fitted.replaceAll(i -> i.isHelperCall() ? i.withImm(PROBE_READS.getOrDefault(i.imm(), i.imm())) : i);
        return fitted;
    }
}
