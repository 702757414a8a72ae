package io.bpf4j.loader.internal.plan;

import io.bpf4j.insn.Instruction;
import io.bpf4j.sys.internal.call.ProgCommand.InfoTable;
import java.util.List;

/**
 * The code of a program: all its functions in one piece, every reference resolved except file descriptors, which do not
 * exist before the load. <i>Immutable.</i>
 *
 * <p>Tested by {@code LoadPlanTest} and {@code KernelFunctionCallsTest}.
 *
 * @param instructions an instruction that loads a map has the map's index in the object plus 1 in place of the file
 *     descriptor
 * @param uses instructions that take a file descriptor
 * @param modules whose functions are called; a call's number minus 1 is the index
 * @param jumpTables for each table the slots that it can jump to
 * @param poisoned instructions that replace a use of something missing; they explain a rejection by the verifier
 * @param absent weak symbols that are missing, for the same explanation
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
     * An instruction whose immediate takes the number of a file descriptor.
     *
     * @param slot where it is in the program
     */
    public record Use(int slot, Referent of) {}

    /** An object with a file descriptor. */
    public sealed interface Referent {
        /** A map of the object. */
        record Map(String name) implements Referent {}

        /** The BTF of a module. */
        record Module(String name) implements Referent {}

        /**
         * A table of the places that an indirect jump may go to. In the kernel it is a map that only one program can
         * use.
         */
        record JumpTable(int index) implements Referent {}
    }

    /**
     * An instruction that the verifier rejects if it is reachable.
     *
     * @param slot where it is in the program
     * @param subject the reason of a failed relocation, else the name of the missing symbol
     * @param reason the same with the place in the object
     */
    public record Poisoned(int slot, Kind kind, String subject, String reason) {
        /** The kind of the original instruction. */
        public enum Kind {
            /** An instruction with a CO-RE relocation. */
            RELOCATION,
            /** The call of a kernel function. */
            FUNCTION,
            /** The load of a map that was left out. */
            MAP
        }
    }

    /**
     * The address of a weak symbol, which is 0 here.
     *
     * @param slot of the instruction that loads it
     */
    public record Absent(int slot, String symbol) {}
}
