package io.bpf4j.loader.internal.load;

import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.map.MapShape;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.BpfFs;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Maps that are pinned by name ({@code LIBBPF_PIN_BY_NAME}): the first load of the object creates and pins them, later
 * loads reuse them. <i>Confined.</i>
 *
 * <p>A pinned map is reused only if it equals the map to create: same type, sizes, number of elements, flags and extra.
 * At best, the verifier would reject a program that assumes a larger value. If two processes load at the same time,
 * both find no pin and both pin; the second closes its map and uses the map of the first.
 *
 * <p>Tested by {@code PinningTest} and {@code PinningOnKernelTest}.
 */
final class MapPinning {
    private final Host host;
    private final String source;
    private final Path directory;
    private final UndoStack undo;
    private final Map<Path, BpfMap> pins = new LinkedHashMap<>();
    private boolean kept;

    MapPinning(Host host, String source, Optional<Path> directory, UndoStack undo) {
        this.host = host;
        this.source = source;
        this.directory = directory.orElseGet(() -> host.sys().resolve("fs/bpf"));
        this.undo = undo;
    }

    /** The pinned map, or a new one from {@code creator}, which is then pinned; closed if the load fails. */
    KernelMap findOrCreate(MapSpec spec, Supplier<KernelMap> creator) {
        if (!spec.pinByName()) {
            return closeOnFailure(creator.get());
        }
        Path path = path(spec);
        Optional<KernelMap> found = find(spec, path);
        if (found.isPresent()) {
            return found.get();
        }
        KernelMap created = creator.get();
        boolean newDirectory;
        try {
            newDirectory = BpfFs.pin(Kernel.of(host), created.fd(), path);
        } catch (SyscallException e) {
            if (e.errno() == Errno.EEXIST) {
                created.close();
                // Another process pinned its map first.
                return find(spec, path).orElseThrow(() -> e);
            }
            throw UndoStack.of(created::close).closeAfter(e);
        } catch (RuntimeException | Error e) {
            UndoStack.of(created::close).closeAfter(e);
            throw e;
        }
        closeOnFailure(created);
        undo.push(() -> {
            if (!kept) {
                unpin(created, path);
                if (newDirectory) {
                    BpfFs.removeDirectoryOf(Kernel.of(host), path);
                }
            }
        });
        pins.put(path, created);
        return created;
    }

    private void unpin(KernelMap created, Path path) {
        try {
            created.unpin(path);
        } catch (SyscallException e) {
            if (e.errno() != Errno.EMFILE && e.errno() != Errno.ENFILE) {
                throw e;
            }
            // To look which map is pinned there takes a descriptor, and a lack of these may be why the load fails.
            created.close();
            BpfFs.unpin(Kernel.of(host), created.id(), created.fd().description(), ObjectCommand.Kind.MAP, path);
        }
    }

    /** From now on, pins stay when their maps are closed. */
    void keep() {
        kept = true;
    }

    /** Whether this load created the map, and did not open it by its pin. */
    boolean isNew(MapSpec spec) {
        return !spec.pinByName() || pins.containsKey(path(spec));
    }

    /** The pins that this load created, not those that existed. */
    Map<Path, BpfMap> pins() {
        return pins;
    }

    private Path path(MapSpec spec) {
        try {
            return BpfFs.in(directory, spec.name());
        } catch (IllegalArgumentException e) {
            throw new InvalidObjectException(source + ": map " + e.getMessage(), e);
        }
    }

    private KernelMap closeOnFailure(KernelMap map) {
        undo.push(map::close);
        return map;
    }

    /** The map that is pinned at the path; closed if the load fails, also if this map is the reason. */
    private Optional<KernelMap> find(MapSpec spec, Path path) {
        Optional<Fd> fd;
        try {
            fd = BpfFs.find(Kernel.of(host), path, ObjectCommand.Kind.MAP);
        } catch (IllegalArgumentException e) {
            throw new InvalidObjectException(source + ": map \"" + spec.name() + "\": " + e.getMessage(), e);
        }
        if (fd.isEmpty()) {
            return Optional.empty();
        }
        KernelMap found = closeOnFailure(KernelMap.adopt(host, fd.get(), spec.name()));
        MapShape expected = shape(spec);
        MapShape actual = MapShape.of(found.info());
        // The kernel sets this by itself for device maps (dev_map_alloc in kernel/bpf/devmap.c).
        boolean device = spec.is(MapType.DEVMAP) || spec.is(MapType.DEVMAP_HASH);
        int ignored = device ? MapSpec.F_RDONLY_PROG : 0;
        if (!actual.without(ignored).equals(expected.without(ignored))) {
            throw new InvalidObjectException(source + ": map \"" + spec.name() + "\" can't use the map pinned at "
                    + path + ", which has " + actual + ", but the object defines " + expected
                    + "; remove that pin, or choose another directory with BpfLoader.pinDirectory");
        }
        return Optional.of(found);
    }

    /** The properties of a map as it is defined. */
    static MapShape shape(MapSpec spec) {
        return new MapShape(
                spec.typeNumber(), spec.keySize(), spec.valueSize(), spec.maxEntries(), spec.flags(), spec.extra());
    }
}
