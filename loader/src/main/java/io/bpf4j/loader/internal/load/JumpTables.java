package io.bpf4j.loader.internal.load;

import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.Struct;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import java.util.ArrayList;
import java.util.List;

/**
 * The jump tables of a program as maps, for the time of its load. Each table is filled with the slots that may be
 * jumped to, and frozen, because the verifier must know all targets. The verifier updates the table while it rewrites
 * the program, so a table serves one program only, and a second copy of the program needs its own tables. The kernel
 * holds the tables as long as the program.
 *
 * <pre>
 *   struct bpf_insn_array_value {   the value, 16 bytes (include/uapi/linux/bpf.h, 7.3)
 *       u32 orig_off;               the slot, from the start of the program
 *       u32 xlated_off;             0; later its slot after the verifier's rewrite
 *       u32 jitted_off;             0; later its offset in machine code
 *       u32 :32;
 *   };
 * </pre>
 */
final class JumpTables {
    private static final int VALUE_SIZE = 16;

    private static final String NAME = ".jumptables"; // as libbpf calls them

    private JumpTables() {}

    /**
     * Creates the tables of a program, if it has any.
     *
     * @param tables for each table the slots that it can jump to
     * @param undo receives the tables to close
     * @return their descriptors, in the same order
     * @throws UnsupportedFeatureException before Linux 6.19
     */
    static List<Fd> createAll(
            Host host, Features features, String program, List<List<Integer>> tables, UndoStack undo) {
        List<Fd> descriptors = new ArrayList<>();
        try {
            for (List<Integer> targets : tables) {
                KernelMap map = create(host, targets.size());
                undo.push(map::close);
                fill(map, targets);
                descriptors.add(map.fd());
            }
            return descriptors;
        } catch (SyscallException e) {
            if (e.errno() == Errno.EINVAL && features.support(Feature.INSN_ARRAY) instanceof Support.Absent absent) {
                UnsupportedFeatureException missing = new UnsupportedFeatureException(
                        "load program \"" + program + "\", which has jump tables",
                        Feature.INSN_ARRAY,
                        absent.reason() + "; compile it with -fno-jump-tables");
                missing.addSuppressed(e);
                throw missing;
            }
            throw e;
        }
    }

    private static KernelMap create(Host host, int entries) {
        return KernelMap.create(
                host, MapCommand.Create.of(MapType.INSN_ARRAY.number(), NAME, 4, VALUE_SIZE, entries), NAME);
    }

    private static void fill(KernelMap map, List<Integer> targets) {
        for (int i = 0; i < targets.size(); i++) {
            map.update(Struct.ints(i), Struct.ints(targets.get(i), 0, 0, 0), UpdateMode.ANY);
        }
        map.freeze();
    }
}
