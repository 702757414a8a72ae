package io.bpf4j.sys.internal.call;

import io.bpf4j.sys.kernel.Errno;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * System calls on the files and sockets of another process, which may change them at any time. Each uses one name in an
 * open directory, and does not follow a symbolic link.
 *
 * <p>Tested by {@code HostileJvmsTest}.
 */
public sealed interface PeerCommand<R> extends Command<R> {
    /**
     * openat(2) of one name, with O_PATH: any kind of file, and no access to its contents.
     *
     * @param name without a slash
     */
    record Look(Fd directory, String name) implements PeerCommand<Fd> {
        @Override
        public Fd run(Call call) {
            return open(call, directory, name, OpenFlags.PATH, 0);
        }
    }

    /** openat(2) of a new, empty file that only its owner may read and write. It fails if the name exists. */
    record Create(Fd directory, String name) implements PeerCommand<Fd> {
        private static final int OWNER_ONLY = 0600;

        @Override
        public Fd run(Call call) {
            return open(call, directory, name, OpenFlags.RDWR | OpenFlags.CREATE | OpenFlags.EXCLUSIVE, OWNER_ONLY);
        }
    }

    /** fchown(2). */
    record ChangeOwner(Fd fd, int user, int group) implements PeerCommand<Integer> {
        @Override
        public Integer run(Call call) {
            return call.check(call.syscall(Syscall.FCHOWN, call.hold(fd), user, group));
        }
    }

    /** unlinkat(2) of one name. */
    record Remove(Fd directory, String name) implements PeerCommand<Integer> {
        @Override
        public Integer run(Call call) {
            long text = call.allocateFrom(name).address();
            return call.check(call.syscall(Syscall.UNLINKAT, call.hold(directory), text, 0));
        }
    }

    /** statx(2) of an open file (Linux 4.11). */
    record Status(Fd fd) implements PeerCommand<Status.FileStatus> {
        /** S_IFMT and the types of include/uapi/linux/stat.h. */
        private static final int TYPE_MASK = 0170000;

        private static final int DIRECTORY = 0040000;
        private static final int REGULAR = 0100000;
        private static final int SOCKET = 0140000;
        private static final int STICKY = 01000;
        private static final int OTHERS_WRITE = 0022;

        /** STATX_ATTR_MOUNT_ROOT. */
        private static final long MOUNT_ROOT = 0x2000;

        /**
         * The status of a file.
         *
         * @param mode type and permissions
         * @param links number of hard links
         * @param attributes STATX_ATTR_*
         */
        public record FileStatus(int mode, int user, int group, int links, long attributes) {
            /** The permissions, with the bits set-user-ID, set-group-ID and sticky. */
            public int permissions() {
                return mode & ~TYPE_MASK;
            }

            public boolean isDirectory() {
                return (mode & TYPE_MASK) == DIRECTORY;
            }

            public boolean isRegular() {
                return (mode & TYPE_MASK) == REGULAR;
            }

            /** Whether it is the root of a mount, also of a part of the same file system; false before Linux 5.8. */
            public boolean isMounted() {
                return (attributes & MOUNT_ROOT) != 0;
            }

            public boolean isSocket() {
                return (mode & TYPE_MASK) == SOCKET;
            }

            /** Whether in this directory only its owner, and the owner of a file, may rename or remove the file. */
            public boolean isSticky() {
                return (mode & STICKY) != 0;
            }

            /** Whether users other than the owner may write. */
            public boolean isWritableByOthers() {
                return (mode & OTHERS_WRITE) != 0;
            }

            /** Whether every user may write. */
            public boolean isWritableByAll() {
                return (mode & 0002) != 0;
            }
        }

        @Override
        public FileStatus run(Call call) {
            MemorySegment stat = FileCommand.Identify.status(call, fd);
            StructLayout statx = FileCommand.Identify.STATX;
            return new FileStatus(
                    statx.u16(stat, "stx_mode"),
                    statx.u32(stat, "stx_uid"),
                    statx.u32(stat, "stx_gid"),
                    statx.u32(stat, "stx_nlink"),
                    statx.u64(stat, "stx_attributes"));
        }
    }

    /**
     * socket(2) and connect(2) to a stream socket of the file system (AF_UNIX). It does not wait: if the peer accepts no
     * connection now, it fails with EAGAIN.
     *
     * @param path to the socket, at most 107 bytes
     * @param name of the socket in messages
     */
    record Connect(Path path, String name) implements PeerCommand<Fd> {
        private static final int SOCK_STREAM = 1;

        /** struct sockaddr_un: a u16 family and a path of 108 bytes. */
        private static final int PATH_OFFSET = 2;

        private static final int PATH_SIZE = 108;

        @Override
        public Fd run(Call call) {
            byte[] text = path.toString().getBytes(StandardCharsets.UTF_8);
            MemorySegment address = call.allocate(PATH_OFFSET + PATH_SIZE, Long.BYTES);
            address.set(ValueLayout.JAVA_SHORT, 0, (short) FileCommand.DeviceIndex.AF_UNIX);
            MemorySegment.copy(
                    text, 0, address, ValueLayout.JAVA_BYTE, PATH_OFFSET, Math.min(text.length, PATH_SIZE - 1));
            int type = SOCK_STREAM | OpenFlags.CLOEXEC | OpenFlags.NONBLOCK;
            Fd socket = call.fd(call.syscall(Syscall.SOCKET, FileCommand.DeviceIndex.AF_UNIX, type, 0), name);
            return socket.ownedBy(fd -> {
                call.check(call.syscall(Syscall.CONNECT, call.hold(fd), address.address(), address.byteSize()));
                return fd;
            });
        }
    }

    /**
     * getsockopt(2) SO_PEERCRED: the process that listens at the other end. The kernel recorded it when the process
     * called listen(2), so it is correct whoever created or linked the name of the socket.
     */
    record PeerOf(Fd socket) implements PeerCommand<PeerOf.Credentials> {
        private static final int SOL_SOCKET = 1;
        private static final int SO_PEERCRED = 17;

        /** struct ucred: pid, uid, gid. */
        private static final int SIZE = 12;

        /**
         * A process and its effective user, as this process's namespaces number them.
         *
         * @param pid 0 if this process's pid namespace does not have it
         */
        public record Credentials(int pid, int user) {}

        @Override
        public Credentials run(Call call) {
            MemorySegment credentials = call.allocate(SIZE, Integer.BYTES);
            MemorySegment size = call.allocateFrom(ValueLayout.JAVA_INT, SIZE);
            call.check(call.syscall(
                    Syscall.GETSOCKOPT,
                    call.hold(socket),
                    SOL_SOCKET,
                    SO_PEERCRED,
                    credentials.address(),
                    size.address(),
                    0));
            return new Credentials(
                    credentials.getAtIndex(ValueLayout.JAVA_INT, 0), credentials.getAtIndex(ValueLayout.JAVA_INT, 1));
        }
    }

    /**
     * pidfd_send_signal(2) (Linux 5.1): sends a signal to the process that was opened, not to a later process with the
     * same pid. The result is false if it has ended.
     *
     * @param signal 0 only checks whether the process exists
     */
    record SendSignal(Fd process, int signal) implements PeerCommand<Boolean> {
        @Override
        public Boolean run(Call call) {
            long result = call.syscall(Syscall.PIDFD_SEND_SIGNAL, call.hold(process), signal, 0);
            if (result == -Errno.ESRCH.number()) {
                return false;
            }
            call.check(result);
            return true;
        }
    }

    @Override
    default String call() {
        return switch (this) {
            case Look look -> "open of " + look.name + " in " + look.directory.description();
            case Create create -> "creation of " + create.name + " in " + create.directory.description();
            case ChangeOwner change -> "fchown of " + change.fd.description();
            case Remove remove -> "unlink of " + remove.name + " in " + remove.directory.description();
            case Status(Fd fd) -> "statx of " + fd.description();
            case Connect connect -> "connection to " + connect.name;
            case PeerOf(Fd socket) -> "getsockopt(SO_PEERCRED) of " + socket.description();
            case SendSignal(Fd process, int signal) -> "signal " + signal + " to " + process.description();
        };
    }

    private static Fd open(Call call, Fd directory, String name, int flags, int mode) {
        long text = call.allocateFrom(name).address();
        int number = call.hold(directory);
        long all = flags | OpenFlags.CLOEXEC | OpenFlags.NOFOLLOW;
        return call.fd(
                Call.retryOnSignal(() -> call.syscall(Syscall.OPENAT, number, text, all, mode, 0, 0)),
                name + " in " + directory.description());
    }
}
