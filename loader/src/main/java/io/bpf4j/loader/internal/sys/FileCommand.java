package io.bpf4j.loader.internal.sys;

import io.bpf4j.elf.FileIdentity;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/** System calls for files, memory and waiting, besides bpf(2) and perf_event_open(2). */
public sealed interface FileCommand<R> extends Command<R> {
    /** close(2). Only {@link Fd} uses this command. */
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
     * open(2) for reading, close-on-exec, only of a regular file, even if the path has changed. The file is first
     * opened with O_PATH, which gives no access, and checked; then that file descriptor is opened through {@code
     * /proc/self/fd}. The open does not wait: the file's owner may hold a lease (fcntl(2), F_SETLEASE), which delays an
     * open by 45 seconds.
     *
     * @param path its bytes are used, not its text
     * @param name the file's name in messages
     */
    record OpenRegular(Path path, String name) implements FileCommand<Fd> {
        @Override
        public String call() {
            return "open of " + name;
        }
    }

    /** unlink(2): removes a name, for example of a pin. */
    record Unlink(Path path) implements FileCommand<Integer> {
        @Override
        public String call() {
            return "unlink of " + path;
        }
    }

    /** statx(2) of an open file (Linux 4.11), for its identity. */
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

    /** pidfd_open(2) (Linux 5.3): refers to one process while it is open, even if its pid is reused. */
    record OpenProcess(int pid) implements FileCommand<Fd> {
        @Override
        public String call() {
            return "pidfd_open of process " + pid;
        }
    }

    /** pidfd_getfd(2) (Linux 5.6): a new file descriptor for a file that another process has open. */
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
     * fcntl(2) F_DUPFD_CLOEXEC: a new file descriptor for a file that other code of this process has open.
     *
     * @param number its owner keeps it and must not close it during the call
     * @param what describes the new file descriptor, for messages
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

    /** mkdir(2), accessible only to the user. */
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
        /** The two ends; the caller closes each. */
        public record Ends(Fd read, Fd write) {}

        @Override
        public String call() {
            return "pipe2 for " + what;
        }
    }

    /** read(2) into native memory; returns the bytes read, or minus the error number. */
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

    /** write(2) from native memory; returns the bytes written, or minus the error number. */
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
     * mmap(2), shared, readable, and writable if {@code writable} is set.
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

    /** munmap(2). Only {@link Mapping} uses this command. */
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
     * @param data returned with the event
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
     * epoll_wait(2); returns the number of events, 0 after the timeout and also after a signal, so the caller must
     * check the clock.
     *
     * @param events room for events as {@link EpollEvent} lays them out
     * @param timeoutMillis -1 for no timeout
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
     * rt_sigaction(2): sets an ignored signal to its default action; returns 1 if it was ignored, 0 if not.
     *
     * @param number such as 2, SIGINT
     */
    record StopIgnoring(int number) implements FileCommand<Integer> {
        @Override
        public String call() {
            return "rt_sigaction of signal " + number;
        }
    }

    /** prlimit64(2) of RLIMIT_MEMLOCK: raises it to unlimited; returns 0 or the error number. */
    record RaiseMemlock() implements FileCommand<Integer> {
        @Override
        public String call() {
            return "setrlimit(RLIMIT_MEMLOCK)";
        }
    }

    /**
     * fsopen, fsconfig and fsmount (5.2, commits 24dcb3d90a1f, ecdab150fddb, 93766fbd2696): a file system without a
     * mount point, which exists as long as its file descriptor, so that the machine's mounts do not change.
     */
    record DetachedMount(String fileSystem) implements FileCommand<Fd> {
        @Override
        public String call() {
            return "fsmount of " + fileSystem;
        }
    }
}
