package io.bpf4j.loader.internal.plan;

import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.internal.sys.ProgCommand.InfoTable;
import java.util.List;

/**
 * The code of a program: all its functions in one piece, every reference resolved but for descriptors, which there are only
 * when it is loaded. <i>Immutable.</i>
 *
 * @param instructions where one loads a map, the map's index in the object plus 1 is in place of its descriptor
 * @param uses instructions that take a descriptor
 * @param modules whose functions are called, by the number that calls have less 1
 * @param jumpTables of each the slots that it leads to
 * @param poisoned what was not found, to explain a verifier's refusal by
 * @param absent what was not found and may be missing, to the same end
 */
public record AssembledProgram(
        List<Instruction> instructions,
        InfoTable functions,
        InfoTable lines,
        List<Use> uses,
        List<String> modules,
        List<List<Integer>> jumpTables,
        List<Poisoned> poisoned,
        List<Absent> absent) {
    /**
     * An instruction whose immediate takes the number of a descriptor.
     *
     * @param slot where it is in the program
     */
    public record Use(int slot, Referent of) {}

    /** What has a descriptor. */
    public sealed interface Referent {
        /** A map of the object. */
        record Map(String name) implements Referent {}

        /** The BTF of a module. */
        record Module(String name) implements Referent {}

        /** A table of the places that an indirect jump may go to. The kernel has it as a map, which one program can use. */
        record JumpTable(int index) implements Referent {}
    }

    /**
     * An instruction that the verifier refuses if it comes by.
     *
     * @param slot where it is in the program
     * @param what is not there: a reason for a relocation, else a name
     * @param reason the same with the place in the object
     */
    public record Poisoned(int slot, Kind kind, String what, String reason) {
        /** What stood there. */
        public enum Kind {
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
    public record Absent(int slot, String symbol) {}
}
