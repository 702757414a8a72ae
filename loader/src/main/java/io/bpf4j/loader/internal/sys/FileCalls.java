package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Libc.NUMBERS;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.kernel.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.LongSupplier;

/** Executes perf_event_open and the calls for files, memory and waiting. <i>Thread-safe.</i> */
final class FileCalls {
    /** include/uapi/asm-generic/signal-defs.h. */
    private static final long SIG_IGN = 1;

    private static final int AT_FDCWD = -100;
    private static final int AT_REMOVEDIR = 0x200;
    private static final int OWNER_ONLY = 0700;

    /** PERF_FLAG_FD_CLOEXEC. */
    private static final int PERF_CLOEXEC = 8;

    /** include/uapi/linux/perf_event.h, in the encoding of include/uapi/asm-generic/ioctl.h. */
    private static final long PERF_ENABLE = 0x2400;

    private static final long PERF_DISABLE = 0x2401;
    private static final long PERF_SET_BPF = 0x40042408;

    private static final int EPOLL_CTL_ADD = 1;
    private static final int EFD_NONBLOCK = 04000;
    private static final int MFD_CLOEXEC = 1;

    private static final int PROT_READ = 1;
    private static final int PROT_WRITE = 2;
    private static final int MAP_SHARED = 1;
    private static final int MAP_FIXED_NOREPLACE = 0x100000;

    private static final int F_DUPFD_CLOEXEC = 1030;

    private static final int AF_UNIX = 1;
    private static final int SOCK_DGRAM = 2;

    /** include/uapi/linux/sockios.h; {@code struct ifreq} of linux/if.h is a name of 16 bytes and a union of 24. */
    private static final long SIOCGIFINDEX = 0x8933;

    private static final long IFREQ_SIZE = 40;
    private static final int IFREQ_INDEX = 16;

    private static final int RLIMIT_MEMLOCK = 8;
    private static final long RLIM_INFINITY = -1;

    private static final int FSOPEN_CLOEXEC = 1;
    private static final int FSMOUNT_CLOEXEC = 1;
    private static final int FSCONFIG_CMD_CREATE = 6;

    private final LinuxKernel kernel;
    private final Path descriptors;

    FileCalls(LinuxKernel kernel, Path descriptors) {
        this.kernel = kernel;
        this.descriptors = descriptors;
    }

    Object execute(PerfCommand<?> command) {
        return switch (command) {
            case PerfCommand.Open open -> {
                Libc.Scratch scratch = Libc.Scratch.get();
                try (Arena arena = Arena.ofConfined()) {
                    PerfEventAttr.encode(scratch.attr, arena, open);
                    long result = Libc.syscall(
                            NUMBERS.perfEventOpen(),
                            scratch.attr.address(),
                            open.pid(),
                            open.cpu(),
                            -1, // no group
                            PERF_CLOEXEC,
                            0);
                    yield Fd.of(kernel, kernel.check(open, result), open.what());
                }
            }
            case PerfCommand.SetProgram set ->
                kernel.check(set, ioctl(set.event(), PERF_SET_BPF, set.program().number()));
            case PerfCommand.Enable enable -> kernel.check(enable, ioctl(enable.event(), PERF_ENABLE, 0));
            case PerfCommand.Disable disable -> kernel.check(disable, ioctl(disable.event(), PERF_DISABLE, 0));
        };
    }

    Object execute(FileCommand<?> command) {
        try (Arena arena = Arena.ofConfined()) {
            return switch (command) {
                // Never repeated after EINTR: Linux has already released the number.
                case FileCommand.Close close -> kernel.check(close, closed(close.number()));
                case FileCommand.Open open -> {
                    long path = Struct.path(arena, open.path()).address();
                    long result = retried(() -> openat(path, open.flags()));
                    yield Fd.of(kernel, kernel.check(open, result), open.path().toString());
                }
                case FileCommand.OpenRegular open -> openRegular(open, arena);
                case FileCommand.Unlink unlink -> {
                    long path = Struct.path(arena, unlink.path()).address();
                    yield kernel.check(unlink, Libc.syscall(NUMBERS.unlinkat(), AT_FDCWD, path, 0));
                }
                case FileCommand.Identify identify -> StatxBuffer.identity(status(identify, identify.fd(), arena));
                case FileCommand.OpenProcess open -> {
                    long result = Libc.syscall(SyscallNumbers.PIDFD_OPEN, open.pid(), 0, 0);
                    yield Fd.of(kernel, kernel.check(open, result), "process " + open.pid());
                }
                case FileCommand.TakeDescriptor take -> {
                    long result = Libc.syscall(
                            SyscallNumbers.PIDFD_GETFD, take.process().number(), take.number(), 0);
                    yield Fd.of(
                            kernel,
                            kernel.check(take, result),
                            "descriptor " + take.number() + " of "
                                    + take.process().what());
                }
                case FileCommand.Duplicate duplicate -> {
                    long result = Libc.syscall(NUMBERS.fcntl(), duplicate.number(), F_DUPFD_CLOEXEC, 0);
                    yield Fd.of(kernel, kernel.check(duplicate, result), duplicate.what());
                }
                case FileCommand.DeviceIndex device -> deviceIndex(device, arena);
                case FileCommand.MakeDirectory make -> {
                    long path = Struct.path(arena, make.path()).address();
                    yield kernel.check(make, Libc.syscall(NUMBERS.mkdirat(), AT_FDCWD, path, OWNER_ONLY));
                }
                case FileCommand.RemoveDirectory remove -> {
                    long path = Struct.path(arena, remove.path()).address();
                    yield kernel.check(remove, Libc.syscall(NUMBERS.unlinkat(), AT_FDCWD, path, AT_REMOVEDIR));
                }
                case FileCommand.Memfd memfd -> {
                    long name = arena.allocateFrom(memfd.name()).address();
                    long result = Libc.syscall(NUMBERS.memfdCreate(), name, MFD_CLOEXEC, 0);
                    yield Fd.of(kernel, kernel.check(memfd, result), "memfd \"" + memfd.name() + "\"");
                }
                case FileCommand.Pipe pipe -> {
                    MemorySegment ends = arena.allocate(ValueLayout.JAVA_INT, 2);
                    int flags = OpenFlags.CLOEXEC | OpenFlags.NONBLOCK;
                    kernel.check(pipe, Libc.syscall(NUMBERS.pipe2(), ends.address(), flags, 0));
                    yield new FileCommand.Pipe.Ends(
                            Fd.of(kernel, ends.getAtIndex(ValueLayout.JAVA_INT, 0), "pipe of " + pipe.what()),
                            Fd.of(kernel, ends.getAtIndex(ValueLayout.JAVA_INT, 1), "pipe to " + pipe.what()));
                }
                case FileCommand.Read read -> transfer(NUMBERS.read(), read.fd(), read.into());
                case FileCommand.Write write -> transfer(NUMBERS.write(), write.fd(), write.from());
                case FileCommand.Map map -> map(map);
                case FileCommand.Unmap unmap ->
                    kernel.check(unmap, Libc.syscall(NUMBERS.munmap(), unmap.address(), unmap.size(), 0));
                case FileCommand.Eventfd eventfd ->
                    Fd.of(
                            kernel,
                            kernel.check(
                                    eventfd, Libc.syscall(NUMBERS.eventfd2(), 0, EFD_NONBLOCK | OpenFlags.CLOEXEC, 0)),
                            "eventfd of " + eventfd.what());
                case FileCommand.EpollCreate create ->
                    Fd.of(
                            kernel,
                            kernel.check(create, Libc.syscall(NUMBERS.epollCreate1(), OpenFlags.CLOEXEC, 0, 0)),
                            "epoll of " + create.what());
                case FileCommand.EpollAdd add -> {
                    MemorySegment event = arena.allocate(EpollEvent.SIZE, 8);
                    EpollEvent.encode(event, add.events(), add.data());
                    long result = Libc.syscall(
                            NUMBERS.epollCtl(),
                            add.epoll().number(),
                            EPOLL_CTL_ADD,
                            add.fd().number(),
                            event.address(),
                            0,
                            0);
                    yield kernel.check(add, result);
                }
                case FileCommand.EpollWait wait -> epollWait(wait);
                case FileCommand.StopIgnoring signal -> stopIgnoring(signal, arena);
                case FileCommand.RaiseMemlock _ -> raiseMemlock(arena);
                case FileCommand.DetachedMount mount -> mount(mount, arena);
            };
        }
    }

    private static long ioctl(Fd fd, long request, long argument) {
        return Libc.syscall(NUMBERS.ioctl(), fd.number(), request, argument);
    }

    private Fd openRegular(FileCommand.OpenRegular open, Arena arena) {
        long path = Struct.path(arena, open.path()).address();
        long result = retried(() -> openat(path, OpenFlags.PATH));
        try (Fd named = Fd.of(kernel, kernel.check(open, result), open.name())) {
            if (!StatxBuffer.isRegular(status(open, named, arena))) {
                throw new SyscallException(
                        open.call(), Errno.EINVAL.number(), "it is no regular file, and others can't be read safely");
            }
            long again = arena.allocateFrom(descriptors
                            .resolve(Integer.toString(named.number()))
                            .toString())
                    .address();
            long opened = retried(() -> openat(again, OpenFlags.RDONLY | OpenFlags.NONBLOCK));
            return Fd.of(kernel, kernel.check(open, opened), open.name());
        }
    }

    private static long openat(long path, int flags) {
        return Libc.syscall(NUMBERS.openat(), AT_FDCWD, path, flags | OpenFlags.CLOEXEC, 0, 0, 0);
    }

    /** The statx information of an open file. */
    private MemorySegment status(Command<?> command, Fd fd, Arena arena) {
        MemorySegment stat = arena.allocate(StatxBuffer.SIZE, 8);
        long nothing = arena.allocateFrom("").address();
        long result = Libc.syscall(
                NUMBERS.statx(),
                fd.number(),
                nothing,
                StatxBuffer.AT_EMPTY_PATH,
                StatxBuffer.BASIC_STATS,
                stat.address(),
                0);
        kernel.check(command, result);
        return stat;
    }

    private static long closed(int number) {
        long result = OffCarrier.call(() -> Libc.syscall(NUMBERS.close(), number, 0, 0));
        return result == -Errno.EINTR.number() ? 0 : result;
    }

    private static long transfer(long call, Fd fd, MemorySegment buffer) {
        return retried(() -> Libc.syscall(call, fd.number(), buffer.address(), buffer.byteSize()));
    }

    private Mapping map(FileCommand.Map map) {
        int protection = PROT_READ | (map.writable() ? PROT_WRITE : 0);
        // Never replaces an existing mapping, which may be the heap. The flag exists since Linux 4.17.
        int flags = map.address() == 0 ? MAP_SHARED : MAP_SHARED | MAP_FIXED_NOREPLACE;
        long address =
                Libc.mmap(map.address(), map.size(), protection, flags, map.fd().number(), map.offset());
        // User addresses are positive on all machines here; an error is a small negative number.
        if (address < 0) {
            throw kernel.failure(map, (int) -address);
        }
        return Mapping.of(kernel, address, map.size(), "mapping of " + map.fd().what());
    }

    private int epollWait(FileCommand.EpollWait wait) {
        long room = wait.events().byteSize() / EpollEvent.SIZE;
        long result = OffCarrier.call(() -> Libc.syscall(
                NUMBERS.epollPwait(),
                wait.epoll().number(),
                wait.events().address(),
                room,
                wait.timeoutMillis(),
                0, // no signal mask
                0));
        return result == -Errno.EINTR.number() ? 0 : kernel.check(wait, result);
    }

    /**
     * The kernel's struct begins with the handler on every machine, and has at most four words: handler, flags,
     * restorer, mask. All zeros is SIG_DFL, whatever the order of the rest.
     */
    private int stopIgnoring(FileCommand.StopIgnoring signal, Arena arena) {
        MemorySegment action = arena.allocate(4L * Long.BYTES, Long.BYTES);
        long maskSize = Long.BYTES;
        kernel.check(signal, Libc.syscall(NUMBERS.rtSigaction(), signal.number(), 0, action.address(), maskSize, 0, 0));
        if (action.get(Struct.U64, 0) != SIG_IGN) {
            return 0;
        }
        action.fill((byte) 0);
        kernel.check(signal, Libc.syscall(NUMBERS.rtSigaction(), signal.number(), action.address(), 0, maskSize, 0, 0));
        return 1;
    }

    /** Any socket works: the call is about its network namespace. */
    private int deviceIndex(FileCommand.DeviceIndex device, Arena arena) {
        MemorySegment request = arena.allocate(IFREQ_SIZE, 8);
        byte[] name = device.name().getBytes(StandardCharsets.UTF_8);
        MemorySegment.copy(name, 0, request, ValueLayout.JAVA_BYTE, 0, Math.min(name.length, IFREQ_INDEX - 1));
        int number = kernel.check(device, Libc.syscall(NUMBERS.socket(), AF_UNIX, SOCK_DGRAM | OpenFlags.CLOEXEC, 0));
        try (Fd socket = Fd.of(kernel, number, "socket")) {
            kernel.check(device, ioctl(socket, SIOCGIFINDEX, request.address()));
            return request.get(ValueLayout.JAVA_INT, IFREQ_INDEX);
        }
    }

    private static int raiseMemlock(Arena arena) {
        MemorySegment limit = arena.allocate(16, 8); // struct rlimit64: soft, hard
        limit.set(ValueLayout.JAVA_LONG, 0, RLIM_INFINITY);
        limit.set(ValueLayout.JAVA_LONG, 8, RLIM_INFINITY);
        return (int) -Libc.syscall(NUMBERS.prlimit64(), 0, RLIMIT_MEMLOCK, limit.address());
    }

    private Fd mount(FileCommand.DetachedMount mount, Arena arena) {
        long name = arena.allocateFrom(mount.fileSystem()).address();
        int number = kernel.check(mount, Libc.syscall(SyscallNumbers.FSOPEN, name, FSOPEN_CLOEXEC, 0));
        try (Fd context = Fd.of(kernel, number, "mount of " + mount.fileSystem())) {
            kernel.check(
                    mount, Libc.syscall(SyscallNumbers.FSCONFIG, context.number(), FSCONFIG_CMD_CREATE, 0, 0, 0, 0));
            int mounted =
                    kernel.check(mount, Libc.syscall(SyscallNumbers.FSMOUNT, context.number(), FSMOUNT_CLOEXEC, 0));
            return Fd.of(kernel, mounted, "detached " + mount.fileSystem());
        }
    }

    private static long retried(LongSupplier call) {
        long result;
        do {
            result = call.getAsLong();
        } while (result == -Errno.EINTR.number());
        return result;
    }
}
