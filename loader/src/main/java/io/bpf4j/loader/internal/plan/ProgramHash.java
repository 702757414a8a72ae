package io.bpf4j.loader.internal.plan;

import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Instructions;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;

/**
 * The hash by which the kernel identifies the only program that may use a map: the SHA-256 of the instructions that the
 * verifier gets. Fields that depend on the numbers of maps' descriptors are 0 in it: both halves of the immediate of an
 * instruction that loads a map, or the address of its value (kernel/bpf/core.c, bpf_prog_calc_tag; Linux 6.18, commit
 * 603b44162325).
 *
 * <p>Tested by {@code ExclusiveMapsTest} and {@code ExclusiveMapsOnKernelTest}.
 */
final class ProgramHash {
    private ProgramHash() {}

    /**
     * The hash of the only program that may use a map.
     *
     * @param programs those that are loaded
     * @throws InvalidObjectException if there is no such program, or its hash is not known before the load
     */
    static byte[] of(ObjectSpec spec, MapSpec map, String program, List<ProgramPlan> programs, LoadOptions options) {
        String subject = spec.source() + ": map \"" + map.name() + "\" is exclusive to program \"" + program + "\", ";
        ProgramPlan plan = programs.stream()
                .filter(each -> each.name().equals(program))
                .findFirst()
                .orElseThrow(() -> new InvalidObjectException(
                        subject + "which " + (spec.findProgram(program).isEmpty() ? "does not exist" : "is left out")));
        if (options.instructions.containsKey(program)) {
            throw new InvalidObjectException(subject
                    + "whose hash is needed before BpfLoader.instructions edits it; edit it by BpfLoader.function");
        }
        AssembledProgram code = plan.code()
                .orElseThrow(() -> new InvalidObjectException(subject + "whose instructions can't be relocated"));
        if (code.uses().stream().anyMatch(use -> use.of() instanceof AssembledProgram.Referent.Module)) {
            throw new InvalidObjectException(subject + "whose hash depends on the number of a descriptor, because it"
                    + " refers to a variable of a kernel module");
        }
        return sha256(Instructions.encode(withoutMaps(code.instructions()), spec.order()));
    }

    private static List<Instruction> withoutMaps(List<Instruction> code) {
        List<Instruction> hashed = new ArrayList<>(code);
        for (int i = 0; i + 1 < hashed.size(); i++) {
            Instruction each = hashed.get(i);
            if (each.isLoadImm64()) {
                if (each.src() == Opcodes.PSEUDO_MAP_FD || each.src() == Opcodes.PSEUDO_MAP_VALUE) {
                    hashed.set(i, each.withImm(0));
                    hashed.set(i + 1, hashed.get(i + 1).withImm(0));
                }
                i++; // the second half is no instruction
            }
        }
        return hashed;
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform must have SHA-256", e);
        }
    }
}
