package io.bpf4j.loader.internal.load;

import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.ProgCommand.InfoTable;
import io.bpf4j.loader.spec.ProgramSpec;
import java.util.List;

/**
 * A program ready for the kernel: all its functions in one piece, every reference resolved. <i>Immutable.</i>
 *
 * @param mentioned descriptors whose numbers are in the instructions
 * @param modules BTF of modules by the number that calls of their functions have; the first is never looked at
 * @param poisoned what was not found, to explain a verifier's refusal by
 */
record AssembledProgram(
        ProgramSpec spec,
        List<Instruction> instructions,
        InfoTable functions,
        InfoTable lines,
        List<Fd> mentioned,
        List<Fd> modules,
        List<Poisoned> poisoned) {
    /**
     * An instruction that the verifier refuses if it comes by.
     *
     * @param slot where it is in the program
     * @param isRelocation whether it is a CO-RE relocation; else the call of a function
     * @param what this kernel lacks
     * @param reason the same with the place in the object
     */
    record Poisoned(int slot, boolean isRelocation, String what, String reason) {
        Poisoned movedBy(int slots) {
            return new Poisoned(slot + slots, isRelocation, what, reason);
        }
    }
}
