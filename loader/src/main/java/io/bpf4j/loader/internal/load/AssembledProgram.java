package io.bpf4j.loader.internal.load;

import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.ProgCommand.InfoTable;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import java.util.List;
import java.util.Map;

/**
 * A program ready for the kernel: all its functions in one piece, every reference resolved. <i>Immutable.</i>
 *
 * @param mentioned descriptors whose numbers are in the instructions
 * @param modules BTF of modules by the number that calls of their functions have; the first is never looked at
 * @param places where each function starts, in order
 * @param jumpTables to be made when it is loaded, for each time anew
 * @param poisoned what was not found, to explain a verifier's refusal by
 * @param absent what was not found and may be missing, to the same end
 */
record AssembledProgram(
        ProgramSpec spec,
        List<Instruction> instructions,
        InfoTable functions,
        InfoTable lines,
        List<Fd> mentioned,
        List<Fd> modules,
        Map<FunctionSpec, Integer> places,
        List<JumpTable> jumpTables,
        List<Poisoned> poisoned,
        List<Absent> absent) {
    /**
     * A table of the places that an indirect jump may go to. The kernel has it as a map, which one program can use.
     *
     * @param targets slots of the program
     * @param loads slots of the 64-bit loads of its address, which lack the map's number
     */
    record JumpTable(List<Integer> targets, List<Integer> loads) {
        JumpTable {
            targets = List.copyOf(targets);
            loads = List.copyOf(loads);
        }
    }

    /**
     * An instruction that the verifier refuses if it comes by.
     *
     * @param slot where it is in the program
     * @param what is not there: a reason for a relocation, else a name
     * @param reason the same with the place in the object
     */
    record Poisoned(int slot, Kind kind, String what, String reason) {
        /** What stood there. */
        enum Kind {
            /** An instruction with a CO-RE relocation. */
            RELOCATION,
            /** The call of a kernel function. */
            FUNCTION,
            /** The load of a map that was left out. */
            MAP
        }

        Poisoned movedBy(int slots) {
            return new Poisoned(slot + slots, kind, what, reason);
        }
    }

    /**
     * The address of a weak symbol, which is 0 here.
     *
     * @param slot of the instruction that loads it
     */
    record Absent(int slot, String symbol) {}
}
