package io.bpf4j.loader.internal.load;

import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.internal.load.ObjectLoading.LoadedProgram;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.kernel.MapType;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Static values: what maps of maps and of programs hold from the start. <i>Confined.</i> */
final class MapSlots {
    private final ObjectSpec spec;
    private final List<MapSpec> holders;
    private final Set<String> made;

    /**
     * Of an object.
     *
     * @param isMade whether there is this map when the load is done
     */
    MapSlots(ObjectSpec spec, Predicate<MapSpec> isMade) {
        this.spec = spec;
        List<MapSpec> there = spec.maps().stream().filter(isMade).toList();
        this.holders = there.stream().filter(map -> !map.slots().isEmpty()).toList();
        this.made = there.stream().map(MapSpec::name).collect(Collectors.toSet());
    }

    /**
     * Whatever a map is to hold is there when it is filled; said before the kernel is asked for anything.
     *
     * @param isWanted whether this program is loaded
     * @throws InvalidObjectException if it is not
     */
    void requireTargets(Predicate<ProgramSpec> isWanted) {
        Map<String, ProgramSpec> programs = new HashMap<>();
        spec.programs().forEach(program -> programs.put(program.name(), program));
        for (MapSpec map : holders) {
            for (MapSpec.Slot slot : map.slots()) {
                if (holdsPrograms(map)) {
                    requireProgram(map, slot, programs, isWanted);
                } else if (!made.contains(slot.target())) {
                    throw missing(map, slot, spec.map(slot.target()).isEmpty() ? "is no map" : "was left out");
                }
            }
        }
    }

    private void requireProgram(
            MapSpec map, MapSpec.Slot slot, Map<String, ProgramSpec> programs, Predicate<ProgramSpec> isWanted) {
        ProgramSpec program = programs.get(slot.target());
        if (program == null) {
            throw missing(map, slot, "is no program");
        }
        if (!isWanted.test(program)) {
            throw new InvalidObjectException(spec.source() + ": slot " + slot.index() + " of map \"" + map.name()
                    + "\" holds program \"" + slot.target() + "\", which is not to be loaded; load it"
                    + " (BpfLoader.withProgram), or leave it out of the map (MapSpec.withSlots)");
        }
    }

    private InvalidObjectException missing(MapSpec map, MapSpec.Slot slot, String why) {
        return new InvalidObjectException(
                spec.source() + ": map \"" + map.name() + "\" holds \"" + slot.target() + "\", which " + why);
    }

    private static boolean holdsPrograms(MapSpec map) {
        return map.is(MapType.PROG_ARRAY);
    }

    /**
     * Fills them. A map of maps that was there before keeps what it holds; one of programs gets this object's, since they
     * are of no use to it elsewhere. So does libbpf.
     *
     * @param fresh maps that were made, not found
     */
    void fill(Map<String, KernelMap> maps, Set<String> fresh, Map<String, LoadedProgram> programs) {
        for (MapSpec map : holders) {
            if (!holdsPrograms(map) && !fresh.contains(map.name())) {
                continue;
            }
            KernelMap holder = Objects.requireNonNull(maps.get(map.name()));
            for (MapSpec.Slot slot : map.slots()) {
                Fd value = holdsPrograms(map)
                        ? Objects.requireNonNull(programs.get(slot.target())).fd()
                        : Objects.requireNonNull(maps.get(slot.target())).fd();
                MapCreation.setSlot(holder, slot.index(), value);
            }
        }
    }
}
