package io.bpf4j.loader.internal.load;

import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.plan.LoadOptions;
import io.bpf4j.loader.internal.plan.LoadPlan;
import io.bpf4j.loader.internal.plan.MapPlan;
import io.bpf4j.loader.internal.plan.ProgramPlan;
import io.bpf4j.loader.internal.plan.StructOpsImage;
import io.bpf4j.loader.internal.plan.TargetKernel;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.Struct;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * An object in the kernel, loaded according to a {@link LoadPlan}. The load is a transaction: a failure closes
 * everything that was created before, last first.
 *
 * <p>The kernel does not know object files. BTF, maps and programs are loaded one by one, each by a system call that
 * returns a file descriptor, and later calls use the file descriptors of earlier ones. This determines the order:
 *
 * <pre>
 *   1  BTF        types of maps and functions. A description only: if rejected, maps and most programs load
 *                 without.
 *   2  maps       those of the object, one per section of global data, one for kconfig values. Values of globals are
 *                 written now, and .rodata is frozen: the verifier treats a frozen value as a constant and removes
 *                 unreachable code, so that a program for many kernels loads on this one.
 *                 Also one map for each struct_ops variable ({@link StructOpsImage}).
 *   3  programs   each with the file descriptors of step 2 in its instructions; then the verifier decides
 *   4  slots      initial entries of maps of maps and maps of programs
 * </pre>
 *
 * <p>An example of step 3, {@code counter++} for a variable at byte 8 of {@code .bss}, the object's third map, which
 * has file descriptor 23:
 *
 * <pre>
 *   in the file      18 01 00 00 08 00 00 00  00 00 00 00 00 00 00 00   r1 = 8 ll, relocation to section .bss
 *   in the plan      18 21 00 00 03 00 00 00  00 00 00 00 08 00 00 00   r1 = map_value(map 3) + 8
 *   for the kernel   18 21 00 00 17 00 00 00  00 00 00 00 08 00 00 00   r1 = map_value(fd 23) + 8
 * </pre>
 *
 * <p>Rejected: light skeletons (a BPF program that makes these calls in the kernel), because they lose the errors; and
 * loading programs only at attach, because a user wants to know at load whether the kernel accepts them.
 *
 * <p><i>Confined.</i>
 *
 * <p>Tested by {@code LoadTransactionTest} and {@code BpfLoaderTest}.
 */
public final class LoadedObject implements AutoCloseable {
    private final Host host;
    private final Features features;
    private final ModuleDescriptors modules;
    private final UndoStack undo = new UndoStack();
    private final Map<String, KernelMap> maps = new LinkedHashMap<>();
    private final Map<String, StructOpsImage> structOps = new LinkedHashMap<>();
    private final Map<String, LoadedProgram> programs = new LinkedHashMap<>();
    private final MapPinning pinning;
    private final ProgramLoading loading;

    /**
     * A program in the kernel.
     *
     * @param attachType the attach type that it was loaded for
     * @param log of the verifier, if requested
     */
    public record LoadedProgram(ProgramPlan plan, Fd fd, Optional<AttachType> attachType, String log) {}

    /**
     * Loads an object.
     *
     * @return the result, which the caller must close
     */
    public static LoadedObject load(Host host, Features features, ObjectSpec spec, LoadOptions options) {
        if (spec.order() != ByteOrder.nativeOrder()) {
            throw new InvalidObjectException(spec.source() + ": " + spec.order() + " object on a "
                    + ByteOrder.nativeOrder() + " machine; compile it with -target bpf on, or for, this machine");
        }
        // Before the plan, because the plan probes features.
        if (!features.has(Feature.MEMCG_ACCOUNTING)) {
            Kernel.of(host).execute(new FileCommand.RaiseMemlock());
        }
        return new LoadedObject(host, features, LoadPlan.of(spec, options, new TargetKernel(host, features)));
    }

    /** Executes a plan, unless it has a problem. */
    LoadedObject(Host host, Features features, LoadPlan plan) {
        plan.requireNoProblems();
        this.host = host;
        this.features = features;
        this.modules = new ModuleDescriptors(Kernel.of(host));
        this.pinning = new MapPinning(host, plan.spec().source(), plan.pinDirectory(), undo);
        undo.push(modules::close);
        try {
            BtfLoading types = BtfLoading.of(host, plan.spec().source(), plan.btf());
            if (types.fd() != null) {
                undo.own(types.fd());
            }
            createMaps(plan, types);
            this.loading = new ProgramLoading(host, features, plan, types, maps, modules);
            for (ProgramPlan program : plan.programs()) {
                LoadedProgram loaded = loading.load(program, program.attachType());
                undo.own(loaded.fd());
                programs.put(program.name(), loaded);
            }
            fillSlots(plan);
            pinning.keep();
        } catch (RuntimeException | Error e) {
            undo.closeAfter(e);
            throw e;
        }
    }

    private void createMaps(LoadPlan plan, BtfLoading types) {
        ObjectSpec spec = plan.spec();
        MapCreation creation = new MapCreation(host, features, spec.source(), types.fd());
        for (MapPlan each : plan.maps()) {
            KernelMap map = each.reused() != null
                    ? KernelMap.of(each.reused())
                    : pinning.findOrCreate(each.spec(), () -> creation.create(each));
            maps.put(each.name(), map);
            map.describe(
                    spec.declaredType(each.spec().keyTypeId(), map.keySize()),
                    spec.declaredType(each.spec().valueTypeId(), map.valueSize()));
        }
        for (StructOpsImage image : plan.structOps()) {
            String name = image.variable().name();
            if (types.fd() == null) {
                throw new InvalidObjectException(spec.source() + ": struct_ops variable \"" + name
                        + "\" needs the object's BTF in the kernel, which did not accept it: "
                        + Objects.requireNonNullElse(
                                types.refusal(), "the object has no BTF, or the kernel does not support BTF"));
            }
            KernelMap map = creation.create(image, image.module().isEmpty() ? null : modules.of(image.module()));
            undo.push(map::close);
            maps.put(name, map);
            structOps.put(name, image);
        }
    }

    /**
     * Writes the initial entries of maps. A map of maps that existed before keeps its entries; an existing map of
     * programs gets this object's programs, because they are useful to the object only there. libbpf does the same.
     */
    private void fillSlots(LoadPlan plan) {
        for (MapPlan map : plan.maps()) {
            boolean holdsPrograms = map.spec().is(MapType.PROG_ARRAY);
            if (holdsPrograms || (map.reused() == null && pinning.isNew(map.spec()))) {
                for (MapSpec.Slot slot : map.spec().slots()) {
                    Fd value = holdsPrograms
                            ? Objects.requireNonNull(programs.get(slot.target()))
                                    .fd()
                            : map(slot.target()).fd();
                    map(map.name()).put(Struct.ints(slot.index()), value, UpdateMode.ANY);
                }
            }
        }
    }

    private KernelMap map(String name) {
        return Objects.requireNonNull(maps.get(name));
    }

    /** Its maps by name, in the order of the object, including reused maps that their owner closes. */
    public Map<String, BpfMap> maps() {
        return Collections.unmodifiableMap(maps);
    }

    /** The pins that this load created, not those that existed, with their maps. */
    public Map<Path, BpfMap> pins() {
        return pinning.pins();
    }

    /** Its programs by name, in the order of the object. */
    public Map<String, LoadedProgram> programs() {
        return Collections.unmodifiableMap(programs);
    }

    /** The struct_ops images, without the programs, by the name of the map. */
    public Map<String, StructOpsImage> structOps() {
        return Collections.unmodifiableMap(structOps);
    }

    /**
     * Loads a program again, for another attach type.
     *
     * @return the result, which the caller must close
     */
    public LoadedProgram copy(LoadedProgram program, Optional<AttachType> attachType) {
        return loading.load(program.plan(), attachType);
    }

    /** Closes programs, then maps, then BTF. Pins stay, and reused maps stay open. */
    @Override
    public void close() {
        undo.close();
    }
}
