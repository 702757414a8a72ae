package io.bpf4j.loader;

import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.load.MapCreation;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.MapAccess;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.BpfFs;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.ObjectCommand.Kind;
import io.bpf4j.sys.internal.call.OwnDescriptor;
import java.nio.file.Path;
import java.util.List;

/**
 * Opens maps that do not belong to an object loaded here: new maps, and maps of other processes. The caller must close
 * each map. <i>Thread-safe.</i>
 *
 * <pre>{@code
 * try (BpfMap counters = Maps.pinned(Path.of("/sys/fs/bpf/counters"))) { … }
 * }</pre>
 */
public final class Maps {
    private Maps() {}

    /** {@link #create(Host, MapSpec)} on the running machine. */
    public static BpfMap create(MapSpec spec) {
        return create(Host.running(), spec);
    }

    /**
     * Creates a map: an inner map for a map of maps, or a map to {@link BpfLoader#reuseMap reuse} in several objects.
     *
     * @throws io.bpf4j.sys.BpfException a subclass, if the kernel refuses
     */
    public static BpfMap create(Host host, MapSpec spec) {
        return create(host, Features.of(host), spec);
    }

    static BpfMap create(Host host, Features features, MapSpec spec) {
        return MapCreation.standalone(host, features, spec);
    }

    /** {@link #byId(Host, int)} on the running machine. */
    public static BpfMap byId(int id) {
        return byId(Host.running(), id);
    }

    /**
     * Opens a map by the kernel's id (Linux 4.13). Needs CAP_SYS_ADMIN.
     *
     * @throws io.bpf4j.sys.SyscallException ENOENT if the map does not exist
     */
    public static BpfMap byId(Host host, int id) {
        return byId(host, id, MapAccess.READ_WRITE);
    }

    /** {@link #byId(Host, int, MapAccess)} on the running machine. */
    public static BpfMap byId(int id, MapAccess access) {
        return byId(Host.running(), id, access);
    }

    /**
     * As {@link #byId(Host, int)}, but only for reading or only for writing (Linux 4.15). The kernel then refuses all
     * other operations (EPERM).
     */
    public static BpfMap byId(Host host, int id, MapAccess access) {
        Fd map = Kernel.of(host).execute(new ObjectCommand.FdById(Kind.MAP, id, access.flag()));
        return KernelMap.adopt(host, map, "", access);
    }

    /** {@link #pinned(Host, Path)} on the running machine. */
    public static BpfMap pinned(Path path) {
        return pinned(Host.running(), path);
    }

    /**
     * Opens a map that is pinned in a BPF file system (Linux 4.4).
     *
     * @throws io.bpf4j.sys.SyscallException ENOENT if nothing is pinned there, among others
     * @throws IllegalArgumentException if it is not a map
     */
    public static BpfMap pinned(Host host, Path path) {
        return pinned(host, path, MapAccess.READ_WRITE);
    }

    /** {@link #pinned(Host, Path, MapAccess)} on the running machine. */
    public static BpfMap pinned(Path path, MapAccess access) {
        return pinned(Host.running(), path, access);
    }

    /**
     * As {@link #pinned(Host, Path)}, but only for reading or only for writing (Linux 4.15). The file of the pin needs
     * no other permission than that. The kernel then refuses all other operations (EPERM).
     */
    public static BpfMap pinned(Host host, Path path, MapAccess access) {
        return KernelMap.adopt(host, BpfFs.open(Kernel.of(host), path, Kind.MAP, access.flag()), "", access);
    }

    /** {@link #takeOver(Host, int)} on the running machine. */
    public static BpfMap takeOver(int descriptor) {
        return takeOver(Host.running(), descriptor);
    }

    /**
     * Takes over a file descriptor of this process that refers to a map: one that was inherited, such as systemd's
     * (LISTEN_FDS, from number 3), or that other code has received by SCM_RIGHTS. The number is closed, and the map has
     * its own descriptor, which exec closes. After a failure the descriptor still belongs to the caller. A map that is
     * open only for reading or only for writing stays so.
     *
     * @param descriptor belongs to the caller alone, and not to other code of this process
     * @return the map, which the caller must close
     * @throws IllegalArgumentException if it is not a BPF map
     * @throws io.bpf4j.sys.SyscallException EBADF if the number is not open, among others
     */
    public static BpfMap takeOver(Host host, int descriptor) {
        Kernel kernel = Kernel.of(host);
        return OwnDescriptor.takeOver(
                kernel,
                descriptor,
                Kind.MAP,
                fd -> KernelMap.adopt(host, fd, "", access(kernel.execute(new FileCommand.FlagsOf(fd)))));
    }

    /** The access that the kernel gives by the flags of the file (bpf_map_new_fd of kernel/bpf/syscall.c). */
    private static MapAccess access(int flags) {
        return switch (flags & 3) {
            case 0 -> MapAccess.READ_ONLY;
            case 1 -> MapAccess.WRITE_ONLY;
            default -> MapAccess.READ_WRITE;
        };
    }

    /** {@link #ids(Host)} on the running machine. */
    public static List<Integer> ids() {
        return ids(Host.running());
    }

    /** The kernel's ids of all existing maps, ascending (Linux 4.13). Needs CAP_SYS_ADMIN. */
    public static List<Integer> ids(Host host) {
        return Links.ids(Kernel.of(host), Kind.MAP);
    }
}
