package io.bpf4j.loader;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.UnknownNameException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.attach.StructOpsKind;
import io.bpf4j.loader.internal.load.LoadedObject;
import io.bpf4j.loader.internal.load.LoadedObject.LoadedProgram;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.map.LoadedGlobal;
import io.bpf4j.loader.internal.plan.ArenaVariables;
import io.bpf4j.loader.internal.plan.DeclaredTypes;
import io.bpf4j.loader.internal.plan.StructOpsImage;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.CType;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.Global;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.GlobalSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.BpfFs;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.TokenKernel;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * An object in the kernel: its maps and programs. Closing it releases them. The kernel keeps what others still use: a
 * {@link Link} keeps its program, a program keeps its maps. <i>Thread-safe.</i>
 */
public final class BpfObject implements AutoCloseable {
    private final Host host;
    private final ObjectSpec spec;
    private final Features features;
    private final LoadedObject loaded;
    private final Map<String, Program> programs = new LinkedHashMap<>();

    /** Guards all fields below. */
    private final Object lock = new Object();

    private final Map<String, Optional<MemorySegment>> memory = new HashMap<>();
    private final Map<ObjectExtension.Key<?>, ObjectExtension> extensions = new LinkedHashMap<>();
    private final Map<CopyKey, Program> copies = new HashMap<>();
    private boolean closed;

    private record CopyKey(String program, Optional<AttachType> attachType) {}

    BpfObject(Host host, ObjectSpec spec, Features features, LoadedObject loaded) {
        this.host = host;
        this.spec = spec;
        this.features = features;
        this.loaded = loaded;
        loaded.programs().forEach((name, program) -> programs.put(name, new Program(this, program)));
    }

    public ObjectSpec spec() {
        return spec;
    }

    /**
     * Opens a file to attach programs of this object to.
     *
     * @param name of the file in messages
     * @throws io.bpf4j.sys.SyscallException if it can't be opened, or is not a regular file
     */
    public OpenFile openFile(Path path, String name) {
        return OpenFile.open(host, path, name);
    }

    /** The kernel features that loading this object relied on, and that attaching its programs relies on. */
    public Features features() {
        return features;
    }

    /** The programs that were loaded, in the order of the object. */
    public Collection<Program> programs() {
        return Collections.unmodifiableCollection(programs.values());
    }

    /**
     * A program.
     *
     * @throws UnknownNameException if no program has that name, or it was not loaded
     */
    public Program program(String name) {
        return findProgram(name).orElseThrow(() -> unknown("program", name, spec.findProgram(name), programs.keySet()));
    }

    /** The program of that name, if it was loaded. */
    public Optional<Program> findProgram(String name) {
        return Optional.ofNullable(programs.get(name));
    }

    /** The maps, those of global data included, in the order of the object. They belong to this object. */
    public Collection<BpfMap> maps() {
        return Collections.unmodifiableCollection(loaded.maps().values());
    }

    /**
     * A map.
     *
     * @throws UnknownNameException if no map has that name, or it was left out
     */
    public BpfMap map(String name) {
        return findMap(name)
                .orElseThrow(() ->
                        unknown("map", name, spec.findMap(name), loaded.maps().keySet()));
    }

    /** The map of that name, if it exists. */
    public Optional<BpfMap> findMap(String name) {
        return Optional.ofNullable(loaded.maps().get(name));
    }

    /**
     * A global variable, live: the program's writes are visible at once in Java, and vice versa.
     *
     * @throws UnknownNameException if no variable has that name, or its map was left out
     */
    public Global global(String name) {
        return findGlobal(name)
                .orElseThrow(() -> unknown(
                        "global variable",
                        name,
                        spec.findGlobal(name),
                        spec.globals().stream().map(GlobalSpec::name).toList()));
    }

    /** The global variable of that name, if it exists and its map was not left out. */
    public Optional<Global> findGlobal(String name) {
        return spec.findGlobal(name).flatMap(variable -> findMap(variable.map()).map(map -> global(variable, map)));
    }

    private Global global(GlobalSpec variable, BpfMap section) {
        DataSection data = spec.map(variable.map()).data().orElseThrow();
        Optional<MemorySegment> mapped;
        synchronized (lock) {
            requireOpen();
            mapped = memory.computeIfAbsent(variable.map(), m -> mapped(section, data));
        }
        return new LoadedGlobal(
                variable.name(),
                section,
                mapped,
                !data.readOnly(),
                variable.offset(),
                variable.size(),
                spec.declaredType(variable.typeId(), variable.size()));
    }

    /**
     * A codec for a struct that programs write to a map without value type, such as the records of a ring buffer. The
     * record is compared with the struct in the object's BTF, as described at {@link Codec#ofRecord}.
     *
     * {@snippet :
     * Codec<Event> events = object.codec(Event.class, "event");
     * ring.poll(Duration.ofMillis(100), events, this::onEvent);
     * }
     *
     * @param struct name of the struct, union or typedef in C
     * @throws UnknownNameException if the object's BTF has no such struct
     * @throws IllegalArgumentException if the record does not match it; also for the reasons of {@link Codec#ofRecord}
     */
    public <R extends Record> Codec<R> codec(Class<R> type, String struct) {
        Codec<R> codec = Codec.ofRecord(type);
        CType found = DeclaredTypes.struct(spec, struct)
                .orElseThrow(() -> new UnknownNameException(
                        "struct",
                        struct,
                        spec.source() + ", whose BTF has only structs to which a variable, a map or a function refers,"
                                + " such as \"struct " + struct + " *unused_" + struct + " __attribute__((unused));\"",
                        DeclaredTypes.structs(spec)));
        codec.difference(found).ifPresent(difference -> {
            throw new IllegalArgumentException(
                    spec.source() + ": " + type.getName() + " does not match struct " + struct + ": " + difference);
        });
        return codec;
    }

    private UnknownNameException unknown(String kind, String name, Optional<?> inSpec, Collection<String> known) {
        String where = inSpec.isPresent() ? spec.source() + " as loaded (it was left out)" : spec.source();
        return new UnknownNameException(kind, name, where, known);
    }

    private Optional<MemorySegment> mapped(BpfMap section, DataSection data) {
        if (section.typeNumber() == MapType.ARENA.number()) {
            int start = ArenaVariables.start(section.maxEntries(), data.size(), features, host);
            return Optional.of(KernelMap.of(section).arena().asSlice(Integer.toUnsignedLong(start)));
        }
        if ((section.flags() & MapSpec.F_MMAPABLE) == 0) {
            return Optional.empty();
        }
        return Optional.of(KernelMap.of(section).values(!data.readOnly()));
    }

    /**
     * A struct_ops map with its programs set: ready for {@link Links#attach(BpfMap)} and for {@link
     * io.bpf4j.loader.link.StructOpsLink#update(BpfMap)}. The kernel uses a map of {@code SEC(".struct_ops")} from this
     * call on.
     *
     * @param name of the variable
     * @throws UnknownNameException if no struct_ops map of that name was created
     * @throws AttachException if one of its programs was not loaded, or the kernel refuses the struct
     */
    public BpfMap structOps(String name) {
        StructOpsImage image = structOpsImage(name);
        BpfMap map = map(name);
        StructOpsKind.prepare(KernelMap.of(map), image, loaded.programs());
        return map;
    }

    /**
     * Attaches a struct_ops variable: the kernel calls its programs until the link is closed, or as long as its pin
     * exists. Linux 5.6, and 6.4 for {@code SEC(".struct_ops.link")}.
     *
     * @param name of the variable
     * @return a {@link io.bpf4j.loader.link.StructOpsLink} for a variable in {@code SEC(".struct_ops.link")}. A
     *     variable in {@code SEC(".struct_ops")} has no link in the kernel; its {@code Link} must be closed before
     *     this object
     * @throws UnknownNameException if no struct_ops map of that name was created
     * @throws AttachException if one of its programs was not loaded, or the kernel refuses the struct
     */
    public Link attachStructOps(String name) {
        StructOpsImage image = structOpsImage(name);
        return StructOpsKind.attach(KernelMap.of(map(name)), image, loaded.programs());
    }

    private StructOpsImage structOpsImage(String name) {
        return Optional.ofNullable(loaded.structOps().get(name))
                .orElseThrow(() -> unknown(
                        "struct_ops map",
                        name,
                        spec.findMap(name),
                        loaded.structOps().keySet()));
    }

    /**
     * Attaches every program to the target in its section name, and every struct_ops variable: all, or none. Programs
     * whose section name has no target ({@link Program#isAttachedBySection()} is false, as for {@code SEC("xdp")} and
     * {@code SEC("usdt")}) are left for {@link Program#attach(io.bpf4j.loader.link.AttachTarget)}. So are programs with
     * {@code withAutoattach(false)}.
     *
     * @throws AttachException if a program can't be attached, or its section name is malformed; the programs attached
     *     before it are detached again
     */
    public LinkGroup attachAll() {
        LinkGroup links = LinkGroup.inParallel("programs of " + spec.source());
        try {
            for (Program program : programs.values()) {
                if (program.spec().autoattach() && program.isAttachedBySection()) {
                    links.add(program.attach());
                }
            }
            loaded.structOps().forEach((name, image) -> {
                if (image.variable().autoattach()) {
                    links.add(attachStructOps(name));
                }
            });
            return links;
        } catch (RuntimeException | Error e) {
            links.closeAfter(e);
            throw e;
        }
    }

    /**
     * Removes the pins that this load created for maps pinned by name. Pins that existed before the load stay, and so
     * does a pin that now refers to another map.
     */
    public void removeOwnPins() {
        loaded.pins().forEach((path, map) -> {
            if (BpfFs.isPinned(kernel(), KernelMap.of(map).fd(), ObjectCommand.Kind.MAP, path)) {
                map.unpin(path);
            }
        });
    }

    /**
     * Pins every map under its name in a directory: all, or none. Dots in names become underscores. Maps already pinned
     * there stay pinned.
     *
     * @param directory in a mounted BPF file system; the last directory of the path is created if it does not exist
     * @throws io.bpf4j.sys.SyscallException if a path is already used by something else, or not in a BPF file
     *     system
     */
    public void pinMaps(Path directory) {
        Map<String, Fd> all = new LinkedHashMap<>();
        maps().forEach(map -> all.put(map.name(), KernelMap.of(map).fd()));
        ObjectPinning.pin(kernel(), ObjectCommand.Kind.MAP, all, directory);
    }

    /** Removes the pins that {@link #pinMaps} created. Other pins stay, and cause an IllegalArgumentException. */
    public void unpinMaps(Path directory) {
        maps().forEach(map -> map.unpin(BpfFs.in(directory, map.name())));
    }

    /**
     * Pins every loaded program under its name in a directory: all, or none. Programs already pinned there stay pinned.
     *
     * @param directory in a mounted BPF file system; the last directory of the path is created if it does not exist
     * @throws io.bpf4j.sys.SyscallException if a path is already used by something else, or not in a BPF file
     *     system
     */
    public void pinPrograms(Path directory) {
        Map<String, Fd> all = new LinkedHashMap<>();
        programs.forEach((name, program) -> all.put(name, program.fd()));
        ObjectPinning.pin(kernel(), ObjectCommand.Kind.PROGRAM, all, directory);
    }

    /** Removes the pins that {@link #pinPrograms} created. Other pins stay, and cause an IllegalArgumentException. */
    public void unpinPrograms(Path directory) {
        programs.forEach((name, program) -> program.unpin(BpfFs.in(directory, name)));
    }

    /** The state that another module keeps for this object: created on first use, closed with the object. */
    public <T extends ObjectExtension> T extension(ObjectExtension.Key<T> key) {
        synchronized (lock) {
            requireOpen();
            ObjectExtension extension = extensions.get(key);
            if (extension == null) {
                extension = key.factory().apply(this);
                extensions.put(key, extension);
            }
            return key.type().cast(extension);
        }
    }

    Program copyOf(LoadedProgram program, Optional<AttachType> attachType) {
        synchronized (lock) {
            requireOpen();
            return copies.computeIfAbsent(
                    new CopyKey(program.plan().name(), attachType),
                    key -> new Program(this, loaded.copy(program, key.attachType())));
        }
    }

    /** The machine on which the object was loaded. */
    public Host host() {
        return host;
    }

    Kernel kernel() {
        return Kernel.of(host);
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException(spec.source() + " is closed");
        }
    }

    /** Closes extensions, programs and maps, in this order. Links stay open: they belong to their caller. */
    @Override
    public void close() {
        UndoStack all = new UndoStack(); // the last is closed first
        synchronized (lock) {
            if (closed) {
                return;
            }
            closed = true;
            if (kernel() instanceof TokenKernel token) {
                all.push(token::close);
            }
            all.push(loaded::close);
            copies.values().forEach(copy -> all.own(copy.fd()));
            extensions.values().forEach(extension -> all.push(extension::close));
        }
        try {
            all.close();
        } catch (RuntimeException e) {
            throw new BpfException("close " + spec.source() + ": " + e.getMessage(), e);
        }
    }

    @Override
    public String toString() {
        return spec.toString();
    }
}
