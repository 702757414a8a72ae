package io.bpf4j.core;

import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Opcodes;
import java.util.List;

/** The result of a relocation for its instruction. All are <i>immutable.</i> */
public sealed interface CoreFixup {
    /**
     * The helper id that a poisoned instruction calls. It is libbpf's id (0xbad2310, "bad relo"), so that the verifier
     * log has the familiar line {@code invalid func unknown#195896080}.
     */
    int POISON_HELPER = 195896080;

    /**
     * The instruction is already correct.
     *
     * @param value the compiled value, which is also the target's value
     */
    record Keep(long value) implements CoreFixup {}

    /**
     * Other slots replace the instruction.
     *
     * @param slots one, or two for a 64-bit load: as many as the instruction has
     * @param from the compiled value
     * @param to the new value
     */
    record Patch(List<Instruction> slots, long from, long to) implements CoreFixup {
        public Patch {
            slots = List.copyOf(slots);
        }
    }

    /**
     * The target doesn't have the type or field that the instruction needs. Each slot becomes a call that the verifier
     * rejects. If the program never reaches the call, because a test such as {@code bpf_core_field_exists} guards it,
     * the verifier removes it as dead code and accepts the program.
     *
     * @param slots as many as the instruction has
     * @param reason the missing type or field and its place, to explain the verifier's rejection
     */
    record Poison(List<Instruction> slots, String reason) implements CoreFixup {
        public Poison {
            slots = List.copyOf(slots);
        }

        /** The poison for an instruction with that many slots. */
        static Poison of(int slots, String reason) {
            Instruction call = new Instruction(Opcodes.JMP | Opcodes.CALL, 0, 0, 0, POISON_HELPER);
            return new Poison(slots == 2 ? List.of(call, call) : List.of(call), reason);
        }
    }
}
