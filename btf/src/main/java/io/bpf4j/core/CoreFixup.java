package io.bpf4j.core;

import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Opcodes;
import java.util.List;

/** What becomes of an instruction that was relocated. All are <i>immutable.</i> */
public sealed interface CoreFixup {
    /**
     * The helper id that a poisoned instruction calls. It is libbpf's (0xbad2310, "bad relo"), so that whoever knows a
     * verifier log with {@code invalid func unknown#195896080} knows this one.
     */
    int POISON_HELPER = 195896080;

    /**
     * The instruction is right as it is.
     *
     * @param value the value it had been compiled with, which the target has, too
     */
    record Keep(long value) implements CoreFixup {}

    /**
     * Other slots take the instruction's place.
     *
     * @param slots one, or two for a 64-bit load: as many as the instruction has
     * @param from the value the instruction had been compiled with
     * @param to the value it has now
     */
    record Patch(List<Instruction> slots, long from, long to) implements CoreFixup {
        public Patch {
            slots = List.copyOf(slots);
        }
    }

    /**
     * The target doesn't have what the instruction needs. Each slot becomes a call that the verifier refuses; if the
     * program never reaches it, because a test such as {@code bpf_core_field_exists} guards it, the verifier removes it
     * as dead code and all is well.
     *
     * @param slots as many as the instruction has
     * @param reason what is missing where, to explain the verifier's refusal by
     */
    record Poison(List<Instruction> slots, String reason) implements CoreFixup {
        public Poison {
            slots = List.copyOf(slots);
        }

        /** The poison for an instruction of that many slots. */
        static Poison of(int slots, String reason) {
            Instruction call = new Instruction(Opcodes.JMP | Opcodes.CALL, 0, 0, 0, POISON_HELPER);
            return new Poison(slots == 2 ? List.of(call, call) : List.of(call), reason);
        }
    }
}
