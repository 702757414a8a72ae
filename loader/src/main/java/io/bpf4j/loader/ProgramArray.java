package io.bpf4j.loader;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.FailureHints;
import io.bpf4j.sys.internal.call.Struct;
import io.bpf4j.sys.kernel.MapType;
import java.util.OptionalInt;
import java.util.function.BiConsumer;

/**
 * The targets of {@code bpf_tail_call} (Linux 4.2): a {@link MapType#PROG_ARRAY}, whose slots hold programs. A slot can
 * be changed while programs run. A tail call into an empty slot fails, and its caller goes on. A view: the {@link
 * BpfMap} still belongs to its owner, who must close it. <i>Thread-safe.</i>
 *
 * <pre>{@code
 * ProgramArray steps = ProgramArray.of(object.map("steps"));
 * steps.put(2, other.program("drop"));        // of another object, or Programs.pinned(path)
 * }</pre>
 *
 * <p>A program in a slot stays in the kernel after its {@link Program} is closed. But when the last descriptor and the
 * last pin of the map are gone, the kernel empties all slots, even if programs still use the map
 * (bpf_fd_array_map_clear in kernel/bpf/arraymap.c): keep the map open or pinned.
 *
 * <p>Tested by {@code ProgramsInMapsOnKernelTest}.
 */
public final class ProgramArray {
    private final KernelMap map;

    private ProgramArray(KernelMap map) {
        this.map = map;
    }

    /**
     * A view of the map.
     *
     * @throws IllegalArgumentException if it is not a map of programs
     */
    public static ProgramArray of(BpfMap map) {
        if (map.typeNumber() != MapType.PROG_ARRAY.number()) {
            throw new IllegalArgumentException(map + " is not a PROG_ARRAY, whose values are programs");
        }
        return new ProgramArray(KernelMap.of(map));
    }

    /**
     * Puts a program into a slot, in place of the present one, if any.
     *
     * @param index from 0 to the map's number of elements - 1
     * @param program still belongs to its owner
     * @throws SyscallException EINVAL if the map takes other programs, E2BIG if it has no such slot
     */
    public void put(int index, Program program) {
        try {
            map.put(Struct.ints(index), program.fd(), UpdateMode.ANY);
        } catch (SyscallException e) {
            throw switch (e.errno()) {
                case EINVAL -> FailureHints.withHint(e, misfit(program));
                // is_extended in prog_fd_array_get_ptr of kernel/bpf/arraymap.c.
                case EBUSY ->
                    FailureHints.withHint(
                            e,
                            "an extension (freplace) replaces a function of program \"" + program.name()
                                    + "\": such a program can't be in a PROG_ARRAY");
                default -> e;
            };
        }
    }

    /** The kernel does not say which condition failed (bpf_prog_map_compatible of kernel/bpf/core.c). */
    private String misfit(Program program) {
        int type = program.info().typeNumber();
        OptionalInt taken = map.info().programType();
        String refused = "program \"" + program.name() + "\" is of type " + Program.typeName(type);
        if (taken.isPresent() && taken.getAsInt() != type) {
            return refused + ", but map \"" + map.name() + "\" takes programs of type "
                    + Program.typeName(taken.getAsInt())
                    + ", the type of the first program that used it or was put into it";
        }
        return refused + " and differs from the first program that used map \"" + map.name()
                + "\" or was put into it, in " + (taken.isPresent() ? "" : "the type, ")
                + "the attach type, the prototype of the target function, the support of packets in several buffers"
                + " (xdp.frags), or JIT compilation";
    }

    /**
     * The kernel's id of the program in a slot, by which {@link Programs#byId(int)} opens it; that needs CAP_SYS_ADMIN,
     * and finds no program if it was removed meanwhile. Empty if the slot is empty.
     */
    public OptionalInt id(int index) {
        return map.lookup(Struct.ints(index))
                .map(value -> OptionalInt.of(Struct.intAt(value, 0)))
                .orElse(OptionalInt.empty());
    }

    /**
     * Empties a slot.
     *
     * @return whether it had a program
     * @throws SyscallException E2BIG if the map has no such slot
     */
    public boolean remove(int index) {
        return map.delete(Struct.ints(index));
    }

    /** Passes each slot that has a program, with the program's id. */
    public void forEachId(BiConsumer<? super Integer, ? super Integer> action) {
        for (byte[] key : map.keys()) {
            int index = Struct.intAt(key, 0);
            id(index).ifPresent(id -> action.accept(index, id));
        }
    }
}
