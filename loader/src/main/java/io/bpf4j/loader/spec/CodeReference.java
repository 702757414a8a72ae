package io.bpf4j.loader.spec;

import java.util.List;

/**
 * A reference of an instruction to something outside its function; the loader resolves it. <i>Immutable.</i>
 *
 * <p>{@code instruction} is an index in the function that the reference belongs to, counted in 8-byte slots.
 */
public sealed interface CodeReference {
    int instruction();

    /** A 64-bit load of a map's address. */
    record ToMap(int instruction, String map) implements CodeReference {}

    /** A 64-bit load of the address of global data: {@code offset} bytes into the value of the map of a section. */
    record ToData(int instruction, String map, int offset) implements CodeReference {}

    /**
     * A call of another function of the object, or a 64-bit load of its address, for a callback. The function is given
     * by section index and slot in that section.
     */
    record ToFunction(int instruction, int section, int slot) implements CodeReference {}

    /** A call of another function of the object by its name, in code that was written in Java. */
    record ToNamedFunction(int instruction, String name) implements CodeReference {}

    /**
     * A 64-bit load of the address of an entry of a jump table.
     *
     * @param table identifies the table in the object
     * @param offset in the table, in bytes
     * @param slots the jump targets as slots of the function's section, one for each entry; all are in the function
     */
    record ToJumpTable(int instruction, int table, int offset, List<Integer> slots) implements CodeReference {
        public ToJumpTable {
            slots = List.copyOf(slots);
        }
    }

    /** A 64-bit load of an extern's address. */
    record ToExtern(int instruction, String name) implements CodeReference {}

    /** A call of a kernel function. */
    record ToKernelFunction(int instruction, String name) implements CodeReference {}
}
