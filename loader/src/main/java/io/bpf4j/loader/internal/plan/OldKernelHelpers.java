package io.bpf4j.loader.internal.plan;

import io.bpf4j.insn.Helper;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.sys.kernel.Feature;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Replaces helpers that an older kernel lacks by older helpers with the same arguments.
 *
 * <p>Before Linux 5.5 one helper read memory of kernel and user alike (commit 6ae08ae3dea2 split it: on some machines
 * one address means different things to the two). If the newer helpers are missing, the old helper does the same.
 *
 * <p>Tested by {@code BpfLoaderTest}.
 */
public final class OldKernelHelpers {
    private static final Map<Integer, Integer> PROBE_READS = Map.of(
            number("bpf_probe_read_user"), number("bpf_probe_read"),
            number("bpf_probe_read_kernel"), number("bpf_probe_read"),
            number("bpf_probe_read_user_str"), number("bpf_probe_read_str"),
            number("bpf_probe_read_kernel_str"), number("bpf_probe_read_str"));

    private OldKernelHelpers() {}

    private static int number(String helper) {
        return Helper.named(helper).number();
    }

    /** Whether this helper has a replacement for kernels that lack it. */
    public static boolean hasReplacement(int helper) {
        return PROBE_READS.containsKey(helper);
    }

    /** The code for the kernel; the same list if nothing changes. */
    static List<Instruction> replaceMissing(List<Instruction> code, Features features) {
        // Look at the code first: a probe costs system calls, and most programs need none.
        boolean calls = false;
        for (Instruction instruction : code) {
            calls |= instruction.isHelperCall() && PROBE_READS.containsKey(instruction.imm());
        }
        if (!calls || !features.lacks(Feature.PROBE_READ_KERNEL)) {
            return code;
        }
        List<Instruction> result = new ArrayList<>(code);
        result.replaceAll(i -> i.isHelperCall() ? i.withImm(PROBE_READS.getOrDefault(i.imm(), i.imm())) : i);
        return result;
    }
}
