package io.bpf4j.loader;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.FailureHints;
import io.bpf4j.sys.internal.call.Struct;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Where XDP programs send packets by {@code bpf_redirect_map}: to network devices ({@link MapType#DEVMAP}, Linux 4.14;
 * {@link MapType#DEVMAP_HASH}, 5.4) or to processors ({@link MapType#CPUMAP}, 4.15), with a program that runs there on
 * each packet, if any. A view: the {@link BpfMap} still belongs to its owner, who must close it. <i>Thread-safe.</i>
 *
 * <pre>{@code
 * RedirectMap devices = RedirectMap.of(object.map("devices"));
 * devices.put(0, NetworkInterface.getByName("eth1").getIndex(), object.program("rewrite"));
 * }</pre>
 *
 * <p>An element with a program needs a value of 8 bytes: {@code struct bpf_devmap_val} (Linux 5.8) or {@code struct
 * bpf_cpumap_val} (5.9) of include/uapi/linux/bpf.h.
 *
 * <p>Tested by {@code ProgramsInMapsOnKernelTest}.
 */
public final class RedirectMap {
    private static final int WITH_PROGRAM = 8;

    private final KernelMap map;
    private final boolean processors;

    /**
     * An element.
     *
     * @param target for a device its index; for a processor the length of its queue, in packets
     * @param programId the kernel's id of the program, by which {@link Programs#byId(int)} opens it; empty if the
     *     element has none
     */
    public record Entry(int target, OptionalInt programId) {}

    private RedirectMap(KernelMap map) {
        this.map = map;
        this.processors = map.typeNumber() == MapType.CPUMAP.number();
    }

    /**
     * A view of the map.
     *
     * @throws IllegalArgumentException if it holds neither devices nor processors
     */
    public static RedirectMap of(BpfMap map) {
        MapType type = map.type().orElse(null);
        if (type != MapType.DEVMAP && type != MapType.DEVMAP_HASH && type != MapType.CPUMAP) {
            throw new IllegalArgumentException(map + " is not a DEVMAP, DEVMAP_HASH or CPUMAP");
        }
        return new RedirectMap(KernelMap.of(map));
    }

    /**
     * Sets an element without a program.
     *
     * @param key the slot, or any number in a hash; for processors, the number of the processor
     * @param target for a device its index, as {@code NetworkInterface.getIndex()} returns it; for a processor the
     *     length of its queue, 1 to 16,384 packets
     * @throws SyscallException if the device or the processor does not exist
     */
    public void put(int key, int target) {
        byte[] value = map.valueSize() == WITH_PROGRAM ? Struct.ints(target, 0) : Struct.ints(target);
        map.update(Struct.ints(key), value);
    }

    /**
     * Sets an element with a program.
     *
     * @param key as {@link #put(int, int)}
     * @param target as {@link #put(int, int)}
     * @param program of {@code SEC("xdp/devmap")} or {@code SEC("xdp/cpumap")}; still belongs to its owner
     * @throws SyscallException if the device or the processor does not exist, or the kernel refuses the program
     * @throws IllegalArgumentException if the values of the map have no room for a program
     */
    public void put(int key, int target, Program program) {
        if (map.valueSize() != WITH_PROGRAM) {
            throw new IllegalArgumentException(map + " has values of " + map.valueSize()
                    + " bytes, without room for program \"" + program.name()
                    + "\"; an element with a program needs a value of 8 bytes: struct "
                    + (processors ? "bpf_cpumap_val" : "bpf_devmap_val"));
        }
        try {
            map.put(Struct.ints(key), program.fd(), UpdateMode.ANY, target);
        } catch (SyscallException e) {
            throw switch (e.errno()) {
                // A CPUMAP reports every failure of its element as ENOMEM (__cpu_map_entry_alloc, kernel/bpf/cpumap.c).
                case EINVAL, ENOMEM ->
                    misfit(program).map(hint -> FailureHints.withHint(e, hint)).orElse(e);
                default -> e;
            };
        }
    }

    /** Why the kernel does not take the program; empty if nothing is known against it. */
    private Optional<String> misfit(Program program) {
        AttachType needed = processors ? AttachType.XDP_CPUMAP : AttachType.XDP_DEVMAP;
        int type = program.info().typeNumber();
        boolean fits = type == ProgramType.XDP.number()
                && program.attachType().map(needed::equals).orElse(true);
        return fits
                ? Optional.empty()
                : Optional.of("program \"" + program.name() + "\" is of type " + Program.typeName(type)
                        + program.attachType()
                                .map(own -> " and attach type " + own)
                                .orElse("")
                        + "; map \"" + map.name() + "\" takes programs of type XDP and attach type " + needed
                        + ", as of SEC(\"" + (processors ? "xdp/cpumap" : "xdp/devmap") + "\")");
    }

    /** An element; empty if the map has none under that key. */
    public Optional<Entry> get(int key) {
        return map.lookup(Struct.ints(key)).map(value -> {
            int program = value.length == WITH_PROGRAM ? Struct.intAt(value, 4) : 0;
            return new Entry(Struct.intAt(value, 0), Struct.unlessZero(program));
        });
    }

    /**
     * Removes an element.
     *
     * @return false if a {@link MapType#DEVMAP_HASH} has no such element; the others don't say, and this is true
     */
    public boolean remove(int key) {
        return map.delete(Struct.ints(key));
    }
}
