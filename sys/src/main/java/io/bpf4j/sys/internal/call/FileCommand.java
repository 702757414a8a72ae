package io.bpf4j.sys.internal.call;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * System calls for files, memory and waiting, besides bpf(2) and perf_event_open(2).
 *
 * <p>Tested by {@code LinuxKernelTest}.
 */
public sealed interface FileCommand<R> extends Command<R> {
    /** Paths are relative to the current directory. */
    int AT_FDCWD = -100;

    /**
     * close(2). Only {@link Fd} uses this command, and {@link OwnDescriptor} for a number of the caller. Linux releases
     * the number also if the call fails.
     *
     * @param description of the file, for messages
     */
    record Close(int number, String description) implements FileCommand<Integer> {
        @Override
        public Integer run(Call call) {
            // Never repeated after EINTR: Linux has already released the number.
            long result = OffCarrier.call(() -> call.syscall(Syscall.CLOSE, number, 0, 0));
            return result == -Errno.EINTR.number() ? 0 : call.check(result);
        }
    }

    /** open(2), close-on-exec. {@code flags} are those of {@link OpenFlags}. */
    record Open(Path path, int flags) implements FileCommand<Fd> {
        @Override
        public Fd run(Call call) {
            return open(call, call.path(path), flags, path.toString());
        }
    }

    /**
     * open(2) for reading, close-on-exec, only of a regular file, even if the path has changed. The file is first
     * opened with O_PATH, which gives no access, and checked; then that file descriptor is opened through {@code
     * /proc/self/fd}. The open does not wait: the file's owner may hold a lease (fcntl(2), F_SETLEASE), which delays an
     * open by 45 seconds.
     *
     * @param path opened by its bytes, not by its text
     * @param name the file's name in messages
     */
    record OpenRegular(Path path, String name) implements FileCommand<Fd> {
        @Override
        public Fd run(Call call) {
            try (Fd named = open(call, call.path(path), OpenFlags.PATH, name)) {
                if (!new PeerCommand.Status(named).run(call).isRegular()) {
                    throw new SyscallException(
                            call(),
                            Errno.EINVAL.number(),
                            "the path is not a regular file, and other files can't be read safely");
                }
                Path again = call.kernel().self().resolve("fd/" + named.number());
                Fd opened = open(call, call.path(again), OpenFlags.RDONLY | OpenFlags.NONBLOCK, name);
                return UndoStack.closing(opened, opened::close, named::close);
            }
        }
    }

    /** unlink(2): removes a name, for example of a pin. */
    record Unlink(Path path) implements FileCommand<Integer> {
        @Override
        public Integer run(Call call) {
            return call.check(call.syscall(Syscall.UNLINKAT, AT_FDCWD, call.path(path), 0));
        }
    }

    /** statx(2) of an open file (Linux 4.11), for its identity. */
    record Identify(Fd fd) implements FileCommand<FileIdentity> {
        /** One layout on every architecture; that of the older {@code struct stat} differs. */
        static final StructLayout STATX = StructLayout.of("statx", """
                u32 stx_mask, stx_blksize;
                u64 stx_attributes;
                u32 stx_nlink, stx_uid, stx_gid;
                u16 stx_mode;
                u64 stx_ino, stx_size, stx_blocks, stx_attributes_mask;
                u64 stx_atime.tv_sec;
                u32 stx_atime.tv_nsec;
                u64 stx_btime.tv_sec;
                u32 stx_btime.tv_nsec;
                u64 stx_ctime.tv_sec;
                u32 stx_ctime.tv_nsec;
                u64 stx_mtime.tv_sec;
                u32 stx_mtime.tv_nsec, stx_mtime.__reserved;
                u32 stx_rdev_major, stx_rdev_minor, stx_dev_major, stx_dev_minor;
                """);

        /** Size of the struct, which has unused bytes at its end. */
        private static final long SIZE = 256;

        private static final int BASIC_STATS = 0x7ff;

        /** Queries the file descriptor itself: the path is empty. */
        private static final int AT_EMPTY_PATH = 0x1000;

        @Override
        public FileIdentity run(Call call) {
            MemorySegment stat = status(call, fd);
            return new FileIdentity(
                    FileIdentity.device(
                            Integer.toUnsignedLong(STATX.u32(stat, "stx_dev_major")),
                            Integer.toUnsignedLong(STATX.u32(stat, "stx_dev_minor"))),
                    STATX.u64(stat, "stx_ino"),
                    STATX.u64(stat, "stx_size"),
                    STATX.u64(stat, "stx_mtime.tv_sec") * 1_000_000_000L + STATX.u32(stat, "stx_mtime.tv_nsec"));
        }

        static MemorySegment status(Call call, Fd fd) {
            MemorySegment stat = call.allocate(SIZE, Long.BYTES);
            long self = call.allocateFrom("").address();
            call.check(call.syscall(Syscall.STATX, call.hold(fd), self, AT_EMPTY_PATH, BASIC_STATS, stat.address(), 0));
            return stat;
        }
    }

    /** fstatfs(2): the magic number of an open file's file system (include/uapi/linux/magic.h). */
    record TypeOfFileSystem(Fd fd) implements FileCommand<Integer> {
        public static final int OVERLAYFS_MAGIC = 0x794c7630;

        static final int BPF_FS_MAGIC = 0xcafe4a11;

        /**
         * The struct has 120 bytes or less. It begins with the number, which fits in 32 bits: a long, on s390x an int.
         */
        private static final long SIZE = 128;

        @Override
        public Integer run(Call call) {
            MemorySegment stat = call.allocate(SIZE, Long.BYTES);
            int number = call.hold(fd);
            call.check(Call.retryOnSignal(() -> call.syscall(Syscall.FSTATFS, number, stat.address(), 0)));
            return stat.get(Struct.U32, 0);
        }
    }

    /** pidfd_open(2) (Linux 5.3): refers to one process while it is open, even if its pid is reused. */
    record OpenProcess(int pid) implements FileCommand<Fd> {
        @Override
        public Fd run(Call call) {
            return call.fd(call.syscall(Syscall.PIDFD_OPEN, pid, 0, 0), "process " + pid);
        }
    }

    /** pidfd_getfd(2) (Linux 5.6): a new file descriptor for a file that another process has open. */
    record TakeDescriptor(Fd process, int number) implements FileCommand<Fd> {
        @Override
        public Fd run(Call call) {
            long result = call.syscall(Syscall.PIDFD_GETFD, call.hold(process), number, 0);
            return call.fd(result, "descriptor " + number + " of " + process.description());
        }
    }

    /**
     * fcntl(2) F_DUPFD_CLOEXEC: a new file descriptor for a file that other code of this process has open.
     *
     * @param number still belongs to its owner, who must not close it during the call
     * @param description describes the new file descriptor, for messages
     */
    record Duplicate(int number, String description) implements FileCommand<Fd> {
        private static final int F_DUPFD_CLOEXEC = 1030;

        @Override
        public Fd run(Call call) {
            return call.fd(call.syscall(Syscall.FCNTL, number, F_DUPFD_CLOEXEC, 0), description);
        }
    }

    /** fcntl(2) F_SETFD without FD_CLOEXEC: exec does not close the file descriptor. */
    record Inherit(Fd fd) implements FileCommand<Integer> {
        private static final int F_SETFD = 2;

        @Override
        public Integer run(Call call) {
            return call.check(call.syscall(Syscall.FCNTL, call.hold(fd), F_SETFD, 0));
        }
    }

    /** fcntl(2) F_GETFL: the flags with which a file was opened, among them the access mode (3). */
    record FlagsOf(Fd fd) implements FileCommand<Integer> {
        private static final int F_GETFL = 3;

        @Override
        public Integer run(Call call) {
            return call.check(call.syscall(Syscall.FCNTL, call.hold(fd), F_GETFL, 0));
        }
    }

    /** readlink(2) in /proc/self/fd: {@code anon_inode:bpf-map}, a path, {@code socket:[4711]}; empty without /proc. */
    record NameOf(Fd fd) implements FileCommand<String> {
        @Override
        public String run(Call call) {
            try {
                return Files.readSymbolicLink(call.kernel().self().resolve("fd/" + call.hold(fd)))
                        .toString();
            } catch (IOException e) {
                return "";
            }
        }
    }

    /** ioctl(2) SIOCGIFINDEX: the index of a network device of this process's network namespace. */
    record DeviceIndex(String name) implements FileCommand<Integer> {
        static final int AF_UNIX = 1;
        private static final int SOCK_DGRAM = 2;

        /** include/uapi/linux/sockios.h; {@code struct ifreq} of linux/if.h is a name of 16 bytes and a union of 24. */
        private static final long SIOCGIFINDEX = 0x8933;

        private static final long IFREQ_SIZE = 40;
        private static final int INDEX = 16;

        @Override
        public Integer run(Call call) {
            MemorySegment request = call.allocate(IFREQ_SIZE, Long.BYTES);
            byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
            MemorySegment.copy(bytes, 0, request, ValueLayout.JAVA_BYTE, 0, Math.min(bytes.length, INDEX - 1));
            // Any socket works: the call is about its network namespace.
            long number = call.syscall(Syscall.SOCKET, AF_UNIX, SOCK_DGRAM | OpenFlags.CLOEXEC, 0);
            try (Fd socket = call.fd(number, "socket")) {
                call.check(call.syscall(Syscall.IOCTL, socket.number(), SIOCGIFINDEX, request.address()));
                return request.get(ValueLayout.JAVA_INT, INDEX);
            }
        }
    }

    /** mkdir(2), accessible only to the user. */
    record MakeDirectory(Path path) implements FileCommand<Integer> {
        private static final int OWNER_ONLY = 0700;

        @Override
        public Integer run(Call call) {
            return call.check(call.syscall(Syscall.MKDIRAT, AT_FDCWD, call.path(path), OWNER_ONLY));
        }
    }

    /** rmdir(2). */
    record RemoveDirectory(Path path) implements FileCommand<Integer> {
        private static final int AT_REMOVEDIR = 0x200;

        @Override
        public Integer run(Call call) {
            return call.check(call.syscall(Syscall.UNLINKAT, AT_FDCWD, call.path(path), AT_REMOVEDIR));
        }
    }

    /** pipe2(2), close-on-exec and non-blocking. */
    record Pipe(String name) implements FileCommand<Pipe.Ends> {
        /** The two ends; the caller closes each. */
        public record Ends(Fd read, Fd write) {}

        @Override
        public Pipe.Ends run(Call call) {
            MemorySegment ends = call.allocate(Struct.U32, 2);
            call.check(call.syscall(Syscall.PIPE2, ends.address(), OpenFlags.CLOEXEC | OpenFlags.NONBLOCK, 0));
            return new Pipe.Ends(
                    call.fd(ends.getAtIndex(Struct.U32, 0), "pipe of " + name),
                    call.fd(ends.getAtIndex(Struct.U32, 1), "pipe to " + name));
        }
    }

    /** read(2) into native memory; returns the bytes read, or minus the error number. */
    record Read(Fd fd, MemorySegment into) implements FileCommand<Long> {
        @Override
        public Long run(Call call) {
            return transfer(call, Syscall.READ, fd, into);
        }
    }

    /** write(2) from native memory; returns the bytes written, or minus the error number. */
    record Write(Fd fd, MemorySegment from) implements FileCommand<Long> {
        @Override
        public Long run(Call call) {
            return transfer(call, Syscall.WRITE, fd, from);
        }
    }

    /**
     * mmap(2), shared, readable, and writable if {@code writable} is set.
     *
     * @param address required address; 0 lets the kernel choose
     */
    record Map(Fd fd, long offset, long size, boolean writable, long address) implements FileCommand<Mapping> {
        private static final int PROT_READ = 1;
        private static final int PROT_WRITE = 2;
        private static final int MAP_SHARED = 1;
        private static final int MAP_FIXED_NOREPLACE = 0x100000;

        public Map(Fd fd, long offset, long size, boolean writable) {
            this(fd, offset, size, writable, 0);
        }

        @Override
        public Mapping run(Call call) {
            int protection = PROT_READ | (writable ? PROT_WRITE : 0);
            // Never replaces an existing mapping, which may be the heap. The flag exists since Linux 4.17.
            int flags = address == 0 ? MAP_SHARED : MAP_SHARED | MAP_FIXED_NOREPLACE;
            // User addresses are positive on all machines here; an error is a small negative number.
            long start = Libc.mmap(address, size, protection, flags, call.hold(fd), offset);
            call.check(Math.min(start, 0));
            return Mapping.of(call.kernel(), start, size, "mapping of " + fd.description());
        }
    }

    /**
     * munmap(2). Only {@link Mapping} uses this command.
     *
     * @param description of the mapping, for messages
     */
    record Unmap(long address, long size, String description) implements FileCommand<Integer> {
        @Override
        public Integer run(Call call) {
            return call.check(call.syscall(Syscall.MUNMAP, address, size, 0));
        }
    }

    /** eventfd2(2), close-on-exec and non-blocking, counting from 0. */
    record Eventfd(String name) implements FileCommand<Fd> {
        @Override
        public Fd run(Call call) {
            int flags = OpenFlags.NONBLOCK | OpenFlags.CLOEXEC;
            return call.fd(call.syscall(Syscall.EVENTFD2, 0, flags, 0), "eventfd of " + name);
        }
    }

    /** epoll_create1(2), close-on-exec. */
    record EpollCreate(String name) implements FileCommand<Fd> {
        @Override
        public Fd run(Call call) {
            return call.fd(call.syscall(Syscall.EPOLL_CREATE1, OpenFlags.CLOEXEC, 0, 0), "epoll of " + name);
        }
    }

    /**
     * epoll_ctl(2) EPOLL_CTL_ADD.
     *
     * @param data returned with the event
     * @param events to wait for, as {@link EpollEvent} names them
     */
    record EpollAdd(Fd epoll, Fd fd, long data, int events) implements FileCommand<Integer> {
        private static final int EPOLL_CTL_ADD = 1;

        @Override
        public Integer run(Call call) {
            MemorySegment event = call.allocate(EpollEvent.SIZE, Long.BYTES);
            EpollEvent.encode(event, events, data);
            return call.check(call.syscall(
                    Syscall.EPOLL_CTL, call.hold(epoll), EPOLL_CTL_ADD, call.hold(fd), event.address(), 0, 0));
        }
    }

    /**
     * epoll_wait(2); returns the number of events, 0 after the timeout and also after a signal, so the caller must
     * check the clock.
     *
     * @param events buffer for events in the layout of {@link EpollEvent}
     * @param timeoutMillis -1 for no timeout
     */
    record EpollWait(Fd epoll, MemorySegment events, int timeoutMillis) implements FileCommand<Integer> {
        @Override
        public Integer run(Call call) {
            int number = call.hold(epoll);
            long capacity = events.byteSize() / EpollEvent.SIZE;
            long result = OffCarrier.call(() -> call.syscall(
                    Syscall.EPOLL_PWAIT, number, events.address(), capacity, timeoutMillis, 0 /* no signal mask */, 0));
            return result == -Errno.EINTR.number() ? 0 : call.check(result);
        }
    }

    /**
     * rt_sigaction(2): sets an ignored signal to its default action; returns 1 if it was ignored, 0 if not.
     *
     * @param number such as 2, SIGINT
     */
    record StopIgnoring(int number) implements FileCommand<Integer> {
        /** include/uapi/asm-generic/signal-defs.h. */
        private static final long SIG_IGN = 1;

        /**
         * The kernel's struct begins with the handler on every machine, and has at most four words: handler, flags,
         * restorer, mask. All zeros is SIG_DFL, whatever the order of the rest.
         */
        private static final long ACTION_SIZE = 4L * Long.BYTES;

        private static final long MASK_SIZE = Long.BYTES;

        @Override
        public Integer run(Call call) {
            MemorySegment action = call.allocate(ACTION_SIZE, Long.BYTES);
            call.check(call.syscall(Syscall.RT_SIGACTION, number, 0, action.address(), MASK_SIZE, 0, 0));
            if (action.get(Struct.U64, 0) != SIG_IGN) {
                return 0;
            }
            action.fill((byte) 0);
            call.check(call.syscall(Syscall.RT_SIGACTION, number, action.address(), 0, MASK_SIZE, 0, 0));
            return 1;
        }
    }

    /** prlimit64(2) of RLIMIT_MEMLOCK: raises it to unlimited; returns 0 or the error number. */
    record RaiseMemlock() implements FileCommand<Integer> {
        private static final int RLIMIT_MEMLOCK = 8;
        private static final long RLIM_INFINITY = -1;

        @Override
        public Integer run(Call call) {
            MemorySegment limit =
                    call.allocateFrom(Struct.U64, RLIM_INFINITY, RLIM_INFINITY); // struct rlimit64: soft, hard
            return (int) -call.syscall(Syscall.PRLIMIT64, 0, RLIMIT_MEMLOCK, limit.address());
        }
    }

    /**
     * fsopen, fsconfig and fsmount (5.2, commits 24dcb3d90a1f, ecdab150fddb, 93766fbd2696): a file system without a
     * mount point, which exists as long as its file descriptor, so that the machine's mounts do not change.
     */
    record DetachedMount(String fileSystem) implements FileCommand<Fd> {
        private static final int FSOPEN_CLOEXEC = 1;
        private static final int FSMOUNT_CLOEXEC = 1;
        private static final int FSCONFIG_CMD_CREATE = 6;

        @Override
        public Fd run(Call call) {
            long name = call.allocateFrom(fileSystem).address();
            try (Fd context =
                    call.fd(call.syscall(Syscall.FSOPEN, name, FSOPEN_CLOEXEC, 0), "mount of " + fileSystem)) {
                int number = context.number();
                call.check(call.syscall(Syscall.FSCONFIG, number, FSCONFIG_CMD_CREATE, 0));
                Fd mount = call.fd(call.syscall(Syscall.FSMOUNT, number, FSMOUNT_CLOEXEC, 0), "detached " + fileSystem);
                return UndoStack.closing(mount, mount::close, context::close);
            }
        }
    }

    @Override
    default String call() {
        return switch (this) {
            case Close close -> "close of " + close.description;
            case Open open -> "open of " + open.path;
            case OpenRegular open -> "open of " + open.name;
            case Unlink(Path path) -> "unlink of " + path;
            case Identify(Fd fd) -> "statx of " + fd.description();
            case TypeOfFileSystem(Fd fd) -> "fstatfs of " + fd.description();
            case OpenProcess(int pid) -> "pidfd_open of process " + pid;
            case TakeDescriptor(Fd process, int number) ->
                "pidfd_getfd of descriptor " + number + " of " + process.description();
            case Duplicate duplicate -> "fcntl(F_DUPFD_CLOEXEC) of " + duplicate.description;
            case Inherit(Fd fd) -> "fcntl(F_SETFD) of " + fd.description();
            case FlagsOf(Fd fd) -> "fcntl(F_GETFL) of " + fd.description();
            case NameOf(Fd fd) -> "readlink of " + fd.description();
            case DeviceIndex(String name) -> "ioctl(SIOCGIFINDEX) of network device " + name;
            case MakeDirectory(Path path) -> "mkdir of " + path;
            case RemoveDirectory(Path path) -> "rmdir of " + path;
            case Pipe(String name) -> "pipe2 for " + name;
            case Read read -> "read of " + read.fd.description();
            case Write write -> "write to " + write.fd.description();
            case Map map ->
                "mmap of " + map.size + " bytes at " + map.offset + " of " + map.fd.description()
                        + (map.address == 0 ? "" : " to 0x" + Long.toHexString(map.address));
            case Unmap unmap -> "munmap of " + unmap.description;
            case Eventfd(String name) -> "eventfd for " + name;
            case EpollCreate(String name) -> "epoll_create1 for " + name;
            case EpollAdd add ->
                "epoll_ctl(EPOLL_CTL_ADD) of " + add.fd.description() + " to " + add.epoll.description();
            case EpollWait epoll -> "epoll_wait of " + epoll.epoll.description();
            case StopIgnoring(int number) -> "rt_sigaction of signal " + number;
            case RaiseMemlock _ -> "setrlimit(RLIMIT_MEMLOCK)";
            case DetachedMount(String fileSystem) -> "fsmount of " + fileSystem;
        };
    }

    private static Fd open(Call call, long path, int flags, String description) {
        return call.fd(
                Call.retryOnSignal(() -> call.syscall(Syscall.OPENAT, AT_FDCWD, path, flags | OpenFlags.CLOEXEC)),
                description);
    }

    private static long transfer(Call call, Syscall name, Fd fd, MemorySegment buffer) {
        int open = call.hold(fd);
        return Call.retryOnSignal(() -> call.syscall(name, open, buffer.address(), buffer.byteSize()));
    }
}
