package io.bpf4j.loader.internal.load;

import io.bpf4j.core.CoreTarget;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.FileCommand;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.UndoStack;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.kernel.ProgramType;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.GlobalSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Loads an object: a transaction. Whatever fails closes what was made before it, last first.
 *
 * <p>The kernel knows no object files. It takes BTF, maps and programs one by one, each by a system call of its own that
 * gives a descriptor, and what comes later holds the descriptors of what came before. That gives the order:
 *
 * <pre>
 *   1  BTF        types of maps and functions. Completed and, for an older kernel, watered down ({@link ObjectBtf}). A
 *                 description only: where the kernel refuses it, maps and most programs load without.
 *   2  maps       those of the object, one per section of global data, one for kconfig values. Values of globals are
 *                 written now, and .rodata is frozen, since the verifier takes a frozen value for a constant and drops
 *                 the code that it rules out: that is how a program for every kernel loads on this one.
 *                 For each struct of functions that the kernel is to call, a map too ({@link StructOpsImage}).
 *   3  symbols    addresses and BTF ids of what the object declares as __ksym
 *   4  programs   each made of its entry and the functions it calls, relocated against this kernel's types, with the
 *                 descriptors of step 2 in its instructions; then the verifier decides
 *   5  slots      maps that hold maps or programs from the start
 * </pre>
 *
 * <p>An example of step 4, {@code counter++} for a variable at byte 8 of {@code .bss}, whose map has descriptor 23:
 *
 * <pre>
 *   in the file      18 01 00 00 08 00 00 00  00 00 00 00 00 00 00 00   r1 = 8 ll, relocation to section .bss
 *   for the kernel   18 21 00 00 17 00 00 00  00 00 00 00 08 00 00 00   r1 = map_value(fd 23) + 8
 * </pre>
 *
 * <p>Rejected: light skeletons (a BPF program that makes these calls in the kernel), since they lose the errors; and a
 * lazy load of programs at attach, since a user wants to know at load whether the kernel takes them.
 *
 * <p><i>Confined</i>; used once. What it made is the caller's.
 */
public final class ObjectLoading {
    private final Host host;
    private final Kernel kernel;
    private final ObjectSpec spec;
    private final LoadOptions options;
    private final Features features;
    private final StructOpsImages structOps;
    private final Supplier<CoreTarget> kernelTypes;
    private final KernelModules modules;
    private final UndoStack undo = new UndoStack();
    private final Map<Path, BpfMap> pins = new LinkedHashMap<>();
    /** Maps that were made, not found. */
    private final Set<String> fresh = new HashSet<>();

    private ObjectLoading(Host host, ObjectSpec spec, LoadOptions options) {
        this.host = host;
        this.kernel = host.kernel();
        this.spec = spec;
        this.options = options;
        this.features = options.features();
        this.structOps = new StructOpsImages(spec, options.structOps());
        this.kernelTypes = new Remembered<>(() -> host.types().target());
        this.modules = new KernelModules(kernel, kernelTypes);
    }

    /**
     * What is in the kernel. Maps that were reused are not here twice: they stay their owner's.
     *
     * @param owned maps to close with the object
     * @param pins those that were made, with the maps that have them
     * @param structOps what the kernel is to call, without the programs, by the name of its map
     * @param modules BTF of modules that programs call or attach to, for copies of them
     * @param again loads another copy of a program
     */
    public record Result(
            Map<String, BpfMap> maps,
            Map<String, BpfMap> owned,
            Map<Path, BpfMap> pins,
            Map<String, LoadedProgram> programs,
            Map<String, StructOpsImage> structOps,
            @Nullable Fd btf,
            List<Fd> modules,
            CopyLoader again) {}

    /**
     * A program in the kernel.
     *
     * @param attachType what it was loaded for
     * @param log of the verifier, if one was asked for
     */
    public record LoadedProgram(ProgramSpec spec, Fd fd, Optional<AttachType> attachType, String log) {}

    /** Loads a program once more, for another attach type. */
    public interface CopyLoader {
        LoadedProgram load(String program, Optional<AttachType> attachType);
    }

    public static Result load(Host host, ObjectSpec spec, LoadOptions options) {
        ObjectLoading loading = new ObjectLoading(host, spec, options);
        try (UndoStack undo = loading.undo) {
            Result result = loading.run();
            undo.commit();
            return result;
        }
    }

    private Result run() {
        if (spec.order() != ByteOrder.nativeOrder()) {
            throw new InvalidObjectException(spec.source() + ": " + spec.order() + " object on a "
                    + ByteOrder.nativeOrder() + " machine; compile it with -target bpf on, or for, this machine");
        }
        requireKnownGlobals();
        MapSlots slots = new MapSlots(spec, this::isMade);
        slots.requireTargets(this::isWanted);
        undo.push(modules::close);
        if (!features.has(Feature.MEMCG_ACCOUNTING)) {
            kernel.execute(new FileCommand.RaiseMemlock());
        }
        BtfLoading types = BtfLoading.of(host, spec, features);
        Fd btf = types.fd();
        if (btf != null) {
            undo.push(btf::close);
        }
        Map<String, BpfMap> owned = new LinkedHashMap<>();
        Map<String, KernelMap> maps = createMaps(btf, owned);
        structOps.find(kernelTypes, modules);
        createStructOps(types, maps, owned);
        Map<String, KernelSymbols.Resolved> symbols = new KernelSymbols(spec, kernelTypes, modules, host.symbols()).resolve();
        ProgramAssembly assembly = new ProgramAssembly(
                spec,
                ReferenceLinking.MapNumbers.of(maps),
                symbols,
                () -> options.targetBtf().map(CoreTarget::of).orElseGet(kernelTypes),
                modules::descriptor,
                btf != null && ObjectBtf.describesFunctions(spec, features));
        ProgramLoading loading = new ProgramLoading(
                host,
                features,
                spec,
                btf,
                new ProgramRefusal(host, spec, features, types.refusal()),
                options,
                constants(maps));

        Map<String, AssembledProgram> assembled = new LinkedHashMap<>();
        Map<String, LoadedProgram> programs = new LinkedHashMap<>();
        for (ProgramSpec program : spec.programs()) {
            if (!isWanted(program)) {
                continue;
            }
            requireKnownKind(program);
            AssembledProgram ready = assembly.assemble(program);
            assembled.put(program.name(), ready);
            LoadedProgram loaded = load(loading, ready, attachType(program));
            undo.push(loaded.fd()::close);
            programs.put(program.name(), loaded);
        }
        slots.fill(maps, fresh, programs);
        CopyLoader again = (name, attachType) -> {
            AssembledProgram ready = assembled.get(name);
            if (ready == null) {
                throw new IllegalArgumentException("program \"" + name + "\" was not loaded");
            }
            return load(loading, ready, attachType);
        };
        Map<String, BpfMap> all = new LinkedHashMap<>(maps);
        return new Result(all, owned, pins, programs, structOps.byName(), btf, modules.descriptors(), again);
    }

    private boolean isWanted(ProgramSpec program) {
        return !options.skipped().contains(program.name())
                && (options.wanted().contains(program.name()) || structOps.loadsByItself(program));
    }

    private void requireKnownKind(ProgramSpec program) {
        if (program.type() == ProgramType.UNSPEC) {
            throw new InvalidObjectException(spec.source() + ": program \"" + program.name() + "\" is in SEC(\""
                    + program.sectionName() + "\"), a name that says no program type; skip it, or rename its section");
        }
    }

    private Optional<AttachType> attachType(ProgramSpec program) {
        Optional<LoadOptions.AttachTypeChoice> choice = options.attachType().apply(program);
        return choice.isPresent() ? choice.get().type() : program.attachType();
    }

    private LoadedProgram load(ProgramLoading loading, AssembledProgram program, Optional<AttachType> attachType) {
        AttachPoint point = program.spec().type() == ProgramType.STRUCT_OPS
                ? structOps.point(program.spec(), modules)
                : AttachPoint.of(
                        program.spec(),
                        kernelTypes,
                        modules,
                        kernel,
                        options.targets().get(program.spec().name()));
        ProgramLoading.Loaded loaded = loading.load(program, attachType, point);
        return new LoadedProgram(program.spec(), loaded.fd(), attachType, loaded.log());
    }

    private void requireKnownGlobals() {
        for (String name : options.globals().keySet()) {
            GlobalSpec variable = spec.global(name)
                    .orElseThrow(() ->
                            new InvalidObjectException(spec.source() + ": has no global variable \"" + name + "\""));
            if (!spec.map(variable.map()).orElseThrow().autocreate()) {
                throw new InvalidObjectException(spec.source() + ": global variable \"" + name + "\" is in \""
                        + variable.map() + "\", which is left out");
            }
        }
    }

    private Map<String, KernelMap> createMaps(@Nullable Fd btf, Map<String, BpfMap> owned) {
        MapCreation creation = creation(btf);
        MapPinning pinning = new MapPinning(host, creation, spec.source(), options.pinDirectory(), undo);
        Map<String, KernelMap> maps = new LinkedHashMap<>();
        for (MapSpec map : spec.maps()) {
            BpfMap reused = options.reused().get(map.name());
            if (reused != null) {
                maps.put(map.name(), compatible(map, KernelMap.of(reused)));
                continue;
            }
            if (!map.autocreate()) {
                continue;
            }
            if (map.isData() && features.support(Feature.GLOBAL_DATA) instanceof Support.Absent absent) {
                throw new UnsupportedFeatureException(
                        spec.source() + ": section " + map.name(), Feature.GLOBAL_DATA, absent.reason());
            }
            KernelMap[] made = new KernelMap[1];
            KernelMap used = pinning.findOrMake(map, () -> made[0] = creation.create(map, initial(map)));
            if (used == made[0]) {
                fresh.add(map.name());
            }
            maps.put(map.name(), used);
            owned.put(map.name(), used);
        }
        for (MapSpec map : spec.maps()) {
            KernelMap made = maps.get(map.name());
            if (made != null) {
                DeclaredTypes.describe(made, spec, map);
            }
        }
        pins.putAll(pinning.pins());
        return maps;
    }

    /** The maps of sections such as {@code .rodata}. */
    private List<Fd> constants(Map<String, KernelMap> maps) {
        return spec.maps().stream()
                .filter(map -> map.data() != null && map.data().isConstant())
                .map(map -> maps.get(map.name()))
                .filter(Objects::nonNull)
                .map(KernelMap::fd)
                .toList();
    }

    private MapCreation creation(@Nullable Fd btf) {
        return new MapCreation(
                host, features, spec.source(), options.objectName().orElse(spec.source()), btf);
    }

    private void createStructOps(BtfLoading types, Map<String, KernelMap> maps, Map<String, BpfMap> owned) {
        MapCreation creation = creation(types.fd());
        for (StructOpsImage image : structOps.all()) {
            if (types.fd() == null) {
                throw new InvalidObjectException(spec.source() + ": struct_ops variable \""
                        + image.variable().name() + "\" needs the object's BTF in the kernel, which has not taken it: "
                        + Objects.requireNonNullElse(types.refusal(), "there is none, or the kernel knows no BTF"));
            }
            KernelMap map = creation.create(
                    image, image.module().map(modules::descriptor).orElse(null));
            undo.push(map::close);
            maps.put(image.variable().name(), map);
            owned.put(image.variable().name(), map);
        }
    }

    private KernelMap compatible(MapSpec wanted, KernelMap found) {
        if (found.typeNumber() != wanted.typeNumber()
                || found.keySize() != wanted.keySize()
                || found.valueSize() != wanted.valueSize()) {
            throw new InvalidObjectException(spec.source() + ": map \"" + wanted.name() + "\" can't be replaced by \""
                    + found.name() + "\": type " + found.typeNumber() + ", key " + found.keySize() + " B, value "
                    + found.valueSize() + " B, where type " + wanted.typeNumber() + ", key " + wanted.keySize()
                    + " B, value " + wanted.valueSize() + " B are needed");
        }
        return found;
    }

    /**
     * The bytes of a section of global data, with the values that the embedder gave; null for other maps, and for
     * zeroes, which a new map has anyway.
     */
    private byte @Nullable [] initial(MapSpec map) {
        DataSection data = map.data();
        if (data == null) {
            return null;
        }
        if (data.name().equals(DataSection.KCONFIG)) {
            KconfigValues values = new KconfigValues(host, spec, features, options.kconfig());
            return overridden(data, values.fill(data, options.globals().keySet()));
        }
        boolean given =
                data.variables().stream().anyMatch(v -> options.globals().containsKey(v.name()));
        if (data.isZero() && !data.readOnly() && !given) {
            return null;
        }
        return overridden(data, data.initial());
    }

    private byte[] overridden(DataSection data, byte[] bytes) {
        for (GlobalSpec variable : data.variables()) {
            byte[] value = options.globals().get(variable.name());
            // Of static variables with one name the first is meant.
            if (value != null
                    && spec.global(variable.name()).filter(variable::equals).isPresent()) {
                System.arraycopy(value, 0, bytes, variable.offset(), Math.min(value.length, variable.size()));
            }
        }
        return bytes;
    }

    /** Whether there is this map when the load is done. */
    private boolean isMade(MapSpec map) {
        return map.autocreate() || options.reused().containsKey(map.name());
    }
}
