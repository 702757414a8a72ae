package io.bpf4j.loader.internal.sys;

import io.bpf4j.elf.FileIdentity;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/** Files, memory and waiting: what bpf4j needs of Linux beside bpf(2) and perf_event_open(2). */
public sealed interface FileCommand<R> extends Command<R> {
    /** close(2). Only {@link Fd} gives this. */
    record Close(int number) implements FileCommand<Integer> {
        @Override
        public String call() {
            return "close of descriptor " + number;
        }
    }

    /** open(2), close-on-exec. {@code flags} are those of {@link OpenFlags}. */
    record Open(Path path, int flags) implements FileCommand<Fd> {
        @Override
        public String call() {
            return "open of " + path;
        }
    }

    /**
     * open(2) for reading, close-on-exec, of a regular file and nothing else, whatever the path leads to by now. The file
     * is first opened by O_PATH, which only names it, and looked at; then that descriptor is opened through
     * {@code /proc/self/fd}. Not waiting: its owner may hold a lease (fcntl(2), F_SETLEASE), which delays an open by 45
     * seconds.
     *
     * @param path its bytes count, not its text
     * @param name what messages call the file
     */
    record OpenRegular(Path path, String name) implements FileCommand<Fd> {
        @Override
        public String call() {
            return "open of " + name;
        }
    }

    /** unlink(2): removes a name, of a pin for instance. */
    record Unlink(Path path) implements FileCommand<Integer> {
        @Override
        public String call() {
            return "unlink of " + path;
        }
    }

    /** statx(2) of an open file (Linux 4.11): which file it is. */
    record Identify(Fd fd) implements FileCommand<FileIdentity> {
        @Override
        public String call() {
            return "statx of " + fd.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(fd);
        }
    }

    /** pidfd_open(2) (Linux 5.3): a process, as long as it is held, and no other that gets its number. */
    record OpenProcess(int pid) implements FileCommand<Fd> {
        @Override
        public String call() {
            return "pidfd_open of process " + pid;
        }
    }

    /** pidfd_getfd(2) (Linux 5.6): a descriptor of our own for a file that another process has open. */
    record TakeDescriptor(Fd process, int number) implements FileCommand<Fd> {
        @Override
        public String call() {
            return "pidfd_getfd of descriptor " + number + " of " + process.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(process);
        }
    }

    /**
     * fcntl(2) F_DUPFD_CLOEXEC: a descriptor of our own for what another part of this process has open.
     *
     * @param number stays its owner's, who must not close it meanwhile
     * @param what the new one is, for messages
     */
    record Duplicate(int number, String what) implements FileCommand<Fd> {
        @Override
        public String call() {
            return "fcntl(F_DUPFD_CLOEXEC) of descriptor " + number;
        }
    }

    /** ioctl(2) SIOCGIFINDEX: the index of a network device of this process's network namespace. */
    record DeviceIndex(String name) implements FileCommand<Integer> {
        @Override
        public String call() {
            return "ioctl(SIOCGIFINDEX) of network device " + name;
        }
    }

    /** mkdir(2), for the user alone. */
    record MakeDirectory(Path path) implements FileCommand<Integer> {
        @Override
        public String call() {
            return "mkdir of " + path;
        }
    }

    /** rmdir(2). */
    record RemoveDirectory(Path path) implements FileCommand<Integer> {
        @Override
        public String call() {
            return "rmdir of " + path;
        }
    }

    /** memfd_create(2), close-on-exec. */
    record Memfd(String name) implements FileCommand<Fd> {
        @Override
        public String call() {
            return "memfd_create of \"" + name + "\"";
        }
    }

    /** pipe2(2), close-on-exec and non-blocking. */
    record Pipe(String what) implements FileCommand<Pipe.Ends> {
        /** The two ends, each the caller's. */
        public record Ends(Fd read, Fd write) {}

        @Override
        public String call() {
            return "pipe2 for " + what;
        }
    }

    /** read(2) into native memory; gives the bytes read, or minus the error number. */
    record Read(Fd fd, MemorySegment into) implements FileCommand<Long> {
        @Override
        public String call() {
            return "read of " + fd.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(fd);
        }
    }

    /** write(2) from native memory; gives the bytes written, or minus the error number. */
    record Write(Fd fd, MemorySegment from) implements FileCommand<Long> {
        @Override
        public String call() {
            return "write to " + fd.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(fd);
        }
    }

    /**
     * mmap(2), shared, readable; {@code writable} adds that.
     *
     * @param address where it must be; 0 leaves that to the kernel
     */
    record Map(Fd fd, long offset, long size, boolean writable, long address) implements FileCommand<Mapping> {
        public Map(Fd fd, long offset, long size, boolean writable) {
            this(fd, offset, size, writable, 0);
        }

        @Override
        public String call() {
            String place = address == 0 ? "" : " to 0x" + Long.toHexString(address);
            return "mmap of " + size + " bytes at " + offset + " of " + fd.what() + place;
        }

        @Override
        public List<Fd> fds() {
            return List.of(fd);
        }
    }

    /** munmap(2). Only {@link Mapping} gives this. */
    record Unmap(long address, long size) implements FileCommand<Integer> {
        @Override
        public String call() {
            return "munmap of " + size + " bytes";
        }
    }

    /** eventfd2(2), close-on-exec and non-blocking, counting from 0. */
    record Eventfd(String what) implements FileCommand<Fd> {
        @Override
        public String call() {
            return "eventfd for " + what;
        }
    }

    /** epoll_create1(2), close-on-exec. */
    record EpollCreate(String what) implements FileCommand<Fd> {
        @Override
        public String call() {
            return "epoll_create1 for " + what;
        }
    }

    /**
     * epoll_ctl(2) EPOLL_CTL_ADD.
     *
     * @param data comes back with the event
     * @param events to wait for, as {@link EpollEvent} names them
     */
    record EpollAdd(Fd epoll, Fd fd, long data, int events) implements FileCommand<Integer> {
        /** For readability. */
        public EpollAdd(Fd epoll, Fd fd, long data) {
            this(epoll, fd, data, EpollEvent.READABLE);
        }

        @Override
        public String call() {
            return "epoll_ctl(EPOLL_CTL_ADD) of " + fd.what() + " to " + epoll.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(epoll, fd);
        }
    }

    /**
     * epoll_wait(2); gives the number of events, 0 when time is up and also when a signal came first, so that whoever
     * waits looks at the clock again.
     *
     * @param events room for events as {@link EpollEvent} lays them out
     * @param timeoutMillis -1 for ever
     */
    record EpollWait(Fd epoll, MemorySegment events, int timeoutMillis) implements FileCommand<Integer> {
        @Override
        public String call() {
            return "epoll_wait of " + epoll.what();
        }

        @Override
        public List<Fd> fds() {
            return List.of(epoll);
        }
    }

    /**
     * rt_sigaction(2): gives a signal that is ignored its default action; gives 1 if it was ignored, 0 if not.
     *
     * @param number such as 2, SIGINT
     */
    record StopIgnoring(int number) implements FileCommand<Integer> {
        @Override
        public String call() {
            return "rt_sigaction of signal " + number;
        }
    }

    /** prlimit64(2) of RLIMIT_MEMLOCK: raises it without limit; gives 0 or the error number. */
    record RaiseMemlock() implements FileCommand<Integer> {
        @Override
        public String call() {
            return "setrlimit(RLIMIT_MEMLOCK)";
        }
    }

    /**
     * fsopen, fsconfig and fsmount (5.2, commits 24dcb3d90a1f, ecdab150fddb, 93766fbd2696): a file system mounted
     * nowhere, reached through its descriptor and gone with it, so that nothing of the machine's mounts is changed.
     */
    record DetachedMount(String fileSystem) implements FileCommand<Fd> {
        @Override
        public String call() {
            return "fsmount of " + fileSystem;
        }
    }
}
