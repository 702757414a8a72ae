package io.bpf4j.loader;

import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.BpfFs;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.ObjectCommand.Kind;
import io.bpf4j.sys.internal.call.OwnDescriptor;
import io.bpf4j.sys.internal.call.ProgramTraits;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.ProgramInfo;
import io.bpf4j.sys.kernel.ProgramType;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Opens programs that do not belong to an object loaded here: pinned programs, and programs of other processes. The
 * caller must close each program. <i>Thread-safe.</i>
 *
 * <pre>{@code
 * try (Program firewall = Programs.pinned(Path.of("/sys/fs/bpf/firewall"));
 *         Link link = firewall.attach(Xdp.on(NetDevice.named("eth0")))) { … }
 * }</pre>
 *
 * <p>The kernel doesn't report the attach type that a program was loaded with. If programs of its type have several,
 * and the target needs one, set it with the target's {@code withAttachType} or with {@link Program#forAttachType}.
 */
public final class Programs {
    private Programs() {}

    /** {@link #byId(Host, int)} on the running machine. */
    public static Program byId(int id) {
        return byId(Host.running(), id);
    }

    /**
     * Opens a program by the kernel's id (Linux 4.13). Needs CAP_SYS_ADMIN.
     *
     * @throws io.bpf4j.sys.SyscallException ENOENT if the program does not exist
     */
    public static Program byId(Host host, int id) {
        return open(host, Kernel.of(host).execute(new ObjectCommand.FdById(Kind.PROGRAM, id)));
    }

    /** {@link #pinned(Host, Path)} on the running machine. */
    public static Program pinned(Path path) {
        return pinned(Host.running(), path);
    }

    /**
     * Opens a program that is pinned in a BPF file system (Linux 4.4).
     *
     * @throws io.bpf4j.sys.SyscallException ENOENT if nothing is pinned there, among others
     * @throws IllegalArgumentException if it is not a program
     */
    public static Program pinned(Host host, Path path) {
        return open(host, BpfFs.open(Kernel.of(host), path, Kind.PROGRAM, 0));
    }

    /** {@link #pinnedReadOnly(Host, Path)} on the running machine. */
    public static Program pinnedReadOnly(Path path) {
        return pinnedReadOnly(Host.running(), path);
    }

    /**
     * As {@link #pinned(Host, Path)}, but this process needs only read permission for the file of the pin (Linux 4.15).
     * The program has no restrictions. A link can't be opened in this way: its pin must be readable and writable.
     */
    public static Program pinnedReadOnly(Host host, Path path) {
        return open(host, BpfFs.open(Kernel.of(host), path, Kind.PROGRAM, ObjectCommand.READ_ONLY));
    }

    /** {@link #takeOver(Host, int)} on the running machine. */
    public static Program takeOver(int descriptor) {
        return takeOver(Host.running(), descriptor);
    }

    /**
     * Takes over a file descriptor of this process that refers to a program: one that was inherited, such as systemd's
     * (LISTEN_FDS, from number 3), or that other code has received by SCM_RIGHTS. The number is closed, and the program
     * has its own descriptor, which exec closes. After a failure the descriptor still belongs to the caller.
     *
     * @param descriptor belongs to the caller alone, and not to other code of this process
     * @return the program, which the caller must close
     * @throws IllegalArgumentException if it is not a BPF program
     * @throws io.bpf4j.sys.SyscallException EBADF if the number is not open, among others
     */
    public static Program takeOver(Host host, int descriptor) {
        return OwnDescriptor.takeOver(Kernel.of(host), descriptor, Kind.PROGRAM, fd -> open(host, fd));
    }

    /** {@link #ids(Host)} on the running machine. */
    public static List<Integer> ids() {
        return ids(Host.running());
    }

    /** The kernel's ids of all existing programs, ascending (Linux 4.13). Needs CAP_SYS_ADMIN. */
    public static List<Integer> ids(Host host) {
        return Links.ids(Kernel.of(host), Kind.PROGRAM);
    }

    private static Program open(Host host, Fd fd) {
        return fd.ownedBy(own -> {
            ProgramInfo info = Kernel.of(host).execute(new ObjectCommand.InfoOfProgram(own));
            Optional<AttachType> attachType = ProgramType.of(info.typeNumber())
                    .flatMap(type -> ProgramTraits.of(type).onlyAttachType());
            return new Program(host, own, info.name(), attachType);
        });
    }
}
