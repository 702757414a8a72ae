package io.bpf4j.loader.internal.load;

import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.plan.ArenaVariables;
import io.bpf4j.loader.internal.plan.LoaderLog;
import io.bpf4j.loader.internal.plan.MapAttributes;
import io.bpf4j.loader.internal.plan.MapPlan;
import io.bpf4j.loader.internal.plan.StructOpsImage;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.StructOpsSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.FailureHints;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.KernelNames;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.MapTraits;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Creates the maps of an object. <i>Confined.</i>
 *
 * <p>Tested by {@code LoadedDefinitionsTest} and {@code WholeObjectTest}.
 *
 * @param source the object's name in messages
 * @param btf its BTF, if the kernel has it
 */
public record MapCreation(
        Host host,
        Features features,
        String source,
        @Nullable Fd btf) {
    /**
     * The errors that the kernel returns for types of keys and values ({@code map_check_btf} and the functions of each
     * map type that it calls; E2BIG comes from kernels whose attributes have no types). After any other error, a map
     * without types would fail as well, or hide the cause.
     */
    private static final Set<Errno> TYPE_REFUSALS =
            EnumSet.of(Errno.EINVAL, Errno.ENOTSUPP, Errno.EOPNOTSUPP, Errno.EACCES, Errno.E2BIG);

    /** The errors that a kernel returns for attributes that no kernel accepts. */
    private static final Set<Errno> ATTRIBUTE_REFUSALS = EnumSet.of(Errno.EINVAL, Errno.ENOTSUPP, Errno.E2BIG);

    /** A map that belongs to no object. */
    public static KernelMap standalone(Host host, Features features, MapSpec spec) {
        return new MapCreation(host, features, "map " + spec.name(), null)
                .create(MapPlan.standalone(spec, features, host));
    }

    /** A map; it is empty, except that global data is already written. */
    KernelMap create(MapPlan plan) {
        KernelMap map;
        MapPlan inner = plan.inner();
        if (inner != null) {
            // The kernel copies the properties of the inner map and does not need the map afterwards.
            try (KernelMap template = createWithTypes(inner, null)) {
                KernelMap outer = createWithTypes(plan, template.fd());
                map = UndoStack.closing(outer, outer::close, template::close);
            }
            map.defineInner(MapPinning.shape(inner.spec()));
        } else {
            map = createWithTypes(plan, null);
        }
        try {
            byte[] initial = plan.initial();
            if (plan.spec().is(MapType.ARENA)) {
                // The verifier needs its address in user space, so it is mapped before programs are loaded.
                MemorySegment arena = map.arena();
                if (initial != null) {
                    fill(plan.spec(), arena, initial);
                }
                return map;
            }
            // A new map already holds zeroes.
            if (initial != null && !allZero(initial)) {
                map.update(new byte[4], initial, UpdateMode.ANY);
            }
            write(map, plan.spec());
            if (plan.frozen()) {
                map.freeze();
            }
            return map;
        } catch (RuntimeException | Error e) {
            UndoStack.of(map::close).closeAfter(e);
            throw e;
        }
    }

    /**
     * A map for a struct_ops variable, without its value.
     *
     * @param module the BTF of the module that defines the struct; null for the kernel itself
     */
    KernelMap create(StructOpsImage image, @Nullable Fd module) {
        StructOpsSpec variable = image.variable();
        String name = features.lacks(Feature.OBJECT_NAMES) ? "" : KernelNames.of(variable.name());
        MapCommand.Create create = MapCommand.Create.of(MapType.STRUCT_OPS.number(), name, 4, image.value().length, 1)
                .withFlags(variable.isLinked() ? MapSpec.F_LINK : 0)
                .withTypes(new MapCommand.ElementTypes(btf, 0, 0, image.wrapperTypeId(), module));
        return KernelMap.adopt(host, executeOrExplain(create, image), variable.name());
    }

    private Fd executeOrExplain(MapCommand.Create create, StructOpsImage image) {
        StructOpsSpec variable = image.variable();
        try {
            return Kernel.of(host).execute(create);
        } catch (SyscallException e) {
            // Kernels before 6.9 have no field for the file descriptor: a value beyond the end of the attributes is
            // E2BIG.
            if (!image.module().isEmpty() && (e.errno() == Errno.EINVAL || e.errno() == Errno.E2BIG)) {
                throw new InvalidObjectException(
                        source + ": the kernel refuses a map for struct_ops variable \"" + variable.name()
                                + "\", whose struct " + variable.type() + " is of module \""
                                + image.module() + "\": " + e.getMessage()
                                + "; structs of modules need Linux 6.9",
                        e);
            }
            if (e.errno() == Errno.EINVAL && variable.isLinked()) {
                throw new InvalidObjectException(
                        source + ": the kernel refuses a map for struct_ops variable \"" + variable.name()
                                + "\": " + e.getMessage() + "; SEC(\".struct_ops.link\") needs Linux 6.4,"
                                + " and SEC(\".struct_ops\") Linux 5.6",
                        e);
            }
            throw e;
        }
    }

    private static boolean holdsObjects(MapSpec spec) {
        return spec.is(MapType.PROG_ARRAY) || MapTraits.of(spec.typeNumber()).has(MapTraits.Trait.HOLDS_MAPS);
    }

    private void write(KernelMap map, MapSpec spec) {
        if (!spec.contents().isEmpty() && (holdsObjects(spec) || spec.isData())) {
            throw new InvalidObjectException(
                    source + ": map \"" + spec.name() + "\" takes no elements of MapSpec.withContents: its values are "
                            + (spec.isData()
                                    ? "global variables; use BpfLoader.global"
                                    : "maps or programs; use MapSpec.withSlots"));
        }
        for (MapSpec.Element element : spec.contents()) {
            try {
                map.update(element.key(), element.value());
            } catch (IllegalArgumentException e) {
                throw new InvalidObjectException(source + ": initial element of " + e.getMessage(), e);
            }
        }
    }

    private void fill(MapSpec spec, MemorySegment arena, byte[] initial) {
        if (initial.length > arena.byteSize()) {
            throw new InvalidObjectException(source + ": arena \"" + spec.name() + "\" of " + arena.byteSize()
                    + " bytes is too small for its global variables of " + initial.length
                    + " bytes; raise its max_entries, in pages");
        }
        int start = ArenaVariables.start(spec.maxEntries(), initial.length, features, host);
        MemorySegment.copy(initial, 0, arena, ValueLayout.JAVA_BYTE, Integer.toUnsignedLong(start), initial.length);
    }

    private static boolean allZero(byte[] bytes) {
        for (byte b : bytes) {
            if (b != 0) {
                return false;
            }
        }
        return true;
    }

    private KernelMap createWithTypes(MapPlan plan, @Nullable Fd template) {
        MapSpec spec = plan.spec();
        byte[] hash = plan.programHash();
        if (spec.exclusiveProgram().isPresent() && hash == null) {
            throw new InvalidObjectException(source + ": map \"" + spec.name() + "\" is exclusive to program \""
                    + spec.exclusiveProgram().get()
                    + "\", so it can be created only together with that program's object, and not as an inner map");
        }
        MapCommand.Create create = new MapCommand.Create(
                spec.typeNumber(),
                plan.kernelName(),
                spec.keySize(),
                spec.valueSize(),
                spec.maxEntries(),
                spec.flags(),
                spec.numaNode(),
                spec.ifindex(),
                spec.extra(),
                template,
                MapCommand.ElementTypes.NONE,
                hash == null ? new byte[0] : hash);
        if (btf == null
                || !MapTraits.of(spec.typeNumber()).has(MapTraits.Trait.ACCEPTS_BTF)
                || (spec.keyTypeId() == 0 && spec.valueTypeId() == 0)) {
            return createOrExplain(create, spec);
        }
        Fd created;
        try {
            var types = new MapCommand.ElementTypes(btf, spec.keyTypeId(), spec.valueTypeId(), 0, null);
            created = Kernel.of(host).execute(create.withTypes(types));
        } catch (SyscallException e) {
            if (!TYPE_REFUSALS.contains(e.errno())) {
                throw e;
            }
            // Kernels differ in which map types may carry BTF. What needs it, such as a lock, is then refused later.
            LoaderLog.debug("map " + spec.name() + " has no types, for the kernel refuses them: " + e.getMessage());
            return createOrExplain(create, spec);
        }
        // Not above: that the kernel does not tell about the map says nothing about its types.
        return KernelMap.adopt(host, created, spec.name());
    }

    private KernelMap createOrExplain(MapCommand.Create create, MapSpec spec) {
        return KernelMap.adopt(host, executeOrExplain(create, spec), spec.name());
    }

    private Fd executeOrExplain(MapCommand.Create create, MapSpec spec) {
        try {
            return Kernel.of(host).execute(create);
        } catch (SyscallException e) {
            if (ATTRIBUTE_REFUSALS.contains(e.errno())) {
                MapAttributes.refusal(spec).ifPresent(problem -> {
                    throw new InvalidObjectException(source + ": map \"" + spec.name() + "\" " + problem, e);
                });
            }
            MissingFeature.of(spec, e.errnoNumber(), features).ifPresent(missing -> {
                missing.addSuppressed(e);
                throw missing;
            });
            if (e.errno() == Errno.EINVAL) {
                // Before Linux 7.2 the kernel gives only the error number; the attributes of the map explain the rest.
                String words = Kernel.of(host).execute(new MapCommand.WhyRefused(create));
                throw FailureHints.withHint(
                        e,
                        "this kernel can't create a map of " + MapPinning.shape(spec) + needs(spec)
                                + (words.isEmpty() ? "" : "; it says: " + words));
            }
            throw e;
        }
    }

    private static String needs(MapSpec spec) {
        String needs = MapTraits.of(spec.typeNumber()).needs();
        return needs.isEmpty() ? "" : "; such maps need " + needs;
    }
}
