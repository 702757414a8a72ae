package io.bpf4j.loader.internal.plan;

import io.bpf4j.loader.dryrun.Fit.Finding;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.GlobalSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.kernel.MapType;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The initial contents of maps: values of variables for global data, static values for maps of maps and of programs.
 * <i>Confined.</i>
 *
 * <p>Tested by {@code LoadPlanTest} and {@code LoadedDefinitionsTest}.
 */
final class MapContents {
    private final ObjectSpec spec;
    private final LoadOptions options;
    private final TargetKernel kernel;
    private final Map<GlobalSpec, byte[]> values = new HashMap<>();

    MapContents(ObjectSpec spec, LoadOptions options, TargetKernel kernel) {
        this.spec = spec;
        this.options = options;
        this.kernel = kernel;
    }

    /** Whether this map exists after the load. */
    boolean exists(MapSpec map) {
        return map.autocreate() || options.reused.containsKey(map.name());
    }

    /**
     * Encodes the values of variables, and checks that every map or program in an initial value exists at that time.
     *
     * @param isLoaded whether this program is loaded
     */
    void check(Predicate<ProgramSpec> isLoaded, Problems problems) {
        spec.changedGlobals()
                .forEach(name -> problems.attempt(Finding.Kind.OBJECT, () -> {
                    GlobalSpec variable = requireGlobal(name);
                    values.put(variable, spec.initialValue(name));
                }));
        Map<String, ProgramSpec> programs = new HashMap<>();
        spec.programs().forEach(program -> programs.put(program.name(), program));
        Map<String, MapSpec> maps = new HashMap<>();
        spec.maps().forEach(map -> maps.put(map.name(), map));
        for (MapSpec map : spec.maps()) {
            if (exists(map)) {
                map.slots()
                        .forEach(slot -> problems.attempt(Finding.Kind.MAP, () -> {
                            if (map.is(MapType.PROG_ARRAY)) {
                                requireProgram(map, slot, programs.get(slot.target()), isLoaded);
                            } else {
                                requireMap(map, slot, maps.get(slot.target()));
                            }
                        }));
            }
        }
    }

    private GlobalSpec requireGlobal(String name) {
        GlobalSpec variable = spec.global(name);
        if (!spec.map(variable.map()).autocreate()) {
            throw new InvalidObjectException(spec.source() + ": global variable \"" + name + "\" is in \""
                    + variable.map() + "\", which is left out");
        }
        return variable;
    }

    private void requireMap(MapSpec map, MapSpec.Slot slot, @Nullable MapSpec inner) {
        if (inner == null || !exists(inner)) {
            throw missing(map, slot, inner == null ? "is not a map" : "was left out");
        }
    }

    private void requireProgram(
            MapSpec map, MapSpec.Slot slot, @Nullable ProgramSpec program, Predicate<ProgramSpec> isLoaded) {
        if (program == null) {
            throw missing(map, slot, "is not a program");
        }
        if (!isLoaded.test(program)) {
            throw new InvalidObjectException(spec.source() + ": slot " + slot.index() + " of map \"" + map.name()
                    + "\" contains program \"" + slot.target() + "\", which is not loaded; load it"
                    + " (ProgramSpec.withAutoload), or remove it from the map (MapSpec.withSlots)");
        }
    }

    private InvalidObjectException missing(MapSpec map, MapSpec.Slot slot, String why) {
        return new InvalidObjectException(
                spec.source() + ": map \"" + map.name() + "\" contains \"" + slot.target() + "\", which " + why);
    }

    /**
     * The bytes of a section of global data, with the values that the embedder set. Null for other maps, for all zeroes
     * (a new map has them already), and for the options of a kernel that is not the running kernel.
     */
    byte @Nullable [] initial(MapSpec map) {
        if (map.data().isEmpty()) {
            return null;
        }
        DataSection data = map.data().get();
        if (data.name().equals(DataSection.KCONFIG)) {
            Host host = kernel.host();
            return host == null
                    ? null
                    : overridden(
                            map,
                            new KconfigValues(host, spec, kernel.features(), options.kconfig)
                                    .fill(data, spec.changedGlobals()));
        }
        boolean changed =
                values.keySet().stream().anyMatch(variable -> variable.map().equals(map.name()));
        return data.isZero() && !data.readOnly() && !changed ? null : overridden(map, data.initial());
    }

    private byte[] overridden(MapSpec map, byte[] bytes) {
        values.keySet().stream()
                .filter(variable -> variable.map().equals(map.name()))
                .sorted(Comparator.comparing(GlobalSpec::name)) // a struct before its members
                .forEach(variable -> {
                    byte[] value = Objects.requireNonNull(values.get(variable));
                    System.arraycopy(value, 0, bytes, variable.offset(), value.length);
                });
        return bytes;
    }
}
