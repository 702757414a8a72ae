package io.bpf4j.loader.internal.load;

import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.MapCommand;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.kernel.MapType;
import io.bpf4j.loader.map.UpdateMode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The jump tables of a program as maps, for the time of its load. Each is filled with the slots that may be jumped to, and
 * frozen: the verifier has to know them all. It then keeps them up to date while it rewrites the program, which is why a
 * table serves one program only, and a second copy of the program takes tables of its own. The kernel holds them as long
 * as the program.
 *
 * <pre>
 *   struct bpf_insn_array_value {   the value, 16 bytes (include/uapi/linux/bpf.h, 7.3)
 *       u32 orig_off;               the slot, from the start of the program
 *       u32 xlated_off;             0; later where the verifier has moved it
 *       u32 jitted_off;             0; later where it is in machine code
 *       u32 :32;
 *   };
 * </pre>
 *
 * <i>Confined.</i>
 */
final class JumpTables implements AutoCloseable {
    private static final int VALUE_SIZE = 16;
    private static final String NAME = ".jumptables"; // as libbpf calls them

    private final List<AssembledProgram.JumpTable> tables;
    private final List<KernelMap> maps = new ArrayList<>();

    private JumpTables(List<AssembledProgram.JumpTable> tables) {
        this.tables = tables;
    }

    /**
     * Makes the tables of a program, if it has any.
     *
     * @throws UnsupportedFeatureException before Linux 6.19
     */
    static JumpTables make(Host host, Features features, AssembledProgram program) {
        JumpTables made = new JumpTables(program.jumpTables());
        try {
            for (AssembledProgram.JumpTable table : made.tables) {
                made.maps.add(create(host, table.targets().size()));
                fill(made.maps.getLast(), table.targets());
            }
            return made;
        } catch (SyscallException e) {
            made.close();
            if (e.errno() == Errno.EINVAL && features.support(Feature.INSN_ARRAY) instanceof Support.Absent absent) {
                UnsupportedFeatureException missing = new UnsupportedFeatureException(
                        "load program \"" + program.spec().name() + "\", which has jump tables",
                        Feature.INSN_ARRAY,
                        absent.reason() + "; compile it with -fno-jump-tables");
                missing.addSuppressed(e);
                throw missing;
            }
            throw e;
        } catch (RuntimeException e) {
            made.close();
            throw e;
        }
    }

    private static KernelMap create(Host host, int entries) {
        return KernelMap.create(
                host, MapCommand.Create.of(MapType.INSN_ARRAY.number(), NAME, 4, VALUE_SIZE, entries), NAME);
    }

    private static void fill(KernelMap map, List<Integer> targets) {
        ByteBuffer key = ByteBuffer.allocate(4).order(ByteOrder.nativeOrder());
        ByteBuffer value = ByteBuffer.allocate(VALUE_SIZE).order(ByteOrder.nativeOrder());
        for (int i = 0; i < targets.size(); i++) {
            map.update(key.putInt(0, i).array(), value.putInt(0, targets.get(i)).array(), UpdateMode.ANY);
        }
        map.freeze();
    }

    /** The code with the numbers of the maps in it. */
    List<Instruction> putInto(List<Instruction> code) {
        if (maps.isEmpty()) {
            return code;
        }
        List<Instruction> complete = new ArrayList<>(code);
        for (int i = 0; i < maps.size(); i++) {
            int number = maps.get(i).fd().number();
            for (int load : tables.get(i).loads()) {
                complete.set(load, complete.get(load).withImm(number));
            }
        }
        return complete;
    }

    /** These and other descriptors whose numbers are in the code. */
    List<Fd> and(List<Fd> mentioned) {
        if (maps.isEmpty()) {
            return mentioned;
        }
        List<Fd> all = new ArrayList<>(mentioned);
        maps.forEach(map -> all.add(map.fd()));
        return all;
    }

    @Override
    public void close() {
        maps.reversed().forEach(KernelMap::close);
    }
}
