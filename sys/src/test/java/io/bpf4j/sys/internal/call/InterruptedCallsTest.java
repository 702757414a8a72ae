package io.bpf4j.sys.internal.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The system calls of one command: each of them fails in turn, or a signal interrupts it. What is repeated, what is
 * closed again, and what is never called twice.
 */
class InterruptedCallsTest {
    /** A kernel whose system calls do nothing but to give numbers, and fail where a test says so. */
    private static final class Calls extends LinuxKernel {
        private static final Set<Syscall> OPENING = EnumSet.of(
                Syscall.OPENAT,
                Syscall.SOCKET,
                Syscall.FSOPEN,
                Syscall.FSMOUNT,
                Syscall.EPOLL_CREATE1,
                Syscall.EVENTFD2,
                Syscall.PIDFD_OPEN,
                Syscall.PIDFD_GETFD,
                Syscall.PERF_EVENT_OPEN,
                Syscall.BPF); // as far as it is called here

        final List<Syscall> made = new ArrayList<>();
        final Set<Long> open = new TreeSet<>();
        private long next = 1000;
        private int failing;
        private int error;

        Calls() {
            super(Path.of("/proc"));
        }

        /** That call fails, counted from 1. */
        void fail(int number, Errno errno) {
            failing = number;
            error = errno.number();
        }

        @Override
        Call call(Command<?> command) {
            return new Call(this, command) {
                @Override
                long syscall(Syscall name, long a, long b, long c, long d, long e, long f) {
                    made.add(name);
                    boolean fails = made.size() == failing;
                    if (name == Syscall.CLOSE) {
                        assertThat(open.remove(a)).as("descriptor " + a).isTrue();
                    }
                    return fails ? -error : answer(name, a, c, e);
                }
            };
        }

        private long answer(Syscall name, long a, long c, long e) {
            if (OPENING.contains(name)) {
                return opened();
            }
            return switch (name) {
                case STATX -> {
                    int regular = 0100644;
                    memory(e, 256).set(ValueLayout.JAVA_SHORT, FileCommand.Identify.STATX.offset("stx_mode"), (short)
                            regular);
                    yield 0;
                }
                case PIPE2 -> {
                    memory(a, 8).setAtIndex(ValueLayout.JAVA_INT, 0, (int) opened());
                    memory(a, 8).setAtIndex(ValueLayout.JAVA_INT, 1, (int) opened());
                    yield 0;
                }
                case FCNTL -> opened();
                case READ, WRITE -> c;
                default -> 0;
            };
        }

        private long opened() {
            open.add(next);
            return next++;
        }

        private static MemorySegment memory(long address, long size) {
            return Restricted.view(MemorySegment.ofAddress(address), size, Arena.global());
        }
    }

    private final Calls kernel = new Calls();

    /** The commands that make several system calls, or a descriptor. */
    static Stream<Command<?>> commands() {
        return Stream.of(
                new FileCommand.Open(Path.of("/file"), OpenFlags.RDONLY),
                new FileCommand.OpenRegular(Path.of("/file"), "/file"),
                new FileCommand.OpenProcess(1),
                new FileCommand.Duplicate(7, "file"),
                new FileCommand.DeviceIndex("lo"),
                new FileCommand.DetachedMount("tracefs"),
                new FileCommand.Eventfd("ring"),
                new FileCommand.EpollCreate("ring"),
                new FileCommand.Pipe("gate"),
                new PeerCommand.Connect(Path.of("/socket"), "socket"),
                new NetlinkCommand.Open(),
                PerfCommand.Open.probe("probe", 9, 0, "/bin/x", 16, -1, 0));
    }

    private static void close(Object result) {
        switch (result) {
            case Fd fd -> fd.close();
            case LoadResult.Loaded loaded -> loaded.fd().close();
            case FileCommand.Pipe.Ends ends -> {
                try (UndoStack both = new UndoStack()) {
                    both.own(ends.write());
                    both.own(ends.read());
                }
            }
            default -> {}
        }
    }

    @ParameterizedTest
    @MethodSource("commands")
    void whicheverCallOfACommandFailsNoDescriptorIsLeft(Command<?> command) {
        close(kernel.execute(command));
        assertThat(kernel.open).isEmpty();
        int calls = kernel.made.size();
        for (int n = 1; n <= calls; n++) {
            for (Errno errno : List.of(Errno.EINTR, Errno.EIO, Errno.EMFILE, Errno.ENOMEM, Errno.EPERM)) {
                kernel.made.clear();
                kernel.fail(n, errno);
                try {
                    close(kernel.execute(command));
                } catch (SyscallException e) {
                    assertThat(e).hasMessageContaining(errno.name()).hasMessageMatching(".*(of|to|for|socket).*");
                }
                assertThat(kernel.open).as(command.call() + ", call " + n).isEmpty();
            }
        }
    }

    /** What a signal interrupts before it has done anything is repeated. */
    @Test
    void whatASignalInterruptsIsRepeated() {
        Fd file = Fd.of(kernel, Math.toIntExact(kernel.opened()), "file");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(8);
            List<Supplier<Object>> all = List.of(
                    () -> kernel.execute(new FileCommand.Open(Path.of("/file"), OpenFlags.RDONLY)),
                    () -> kernel.execute(new FileCommand.OpenRegular(Path.of("/file"), "/file")),
                    () -> kernel.execute(new PeerCommand.Look(file, "file")),
                    () -> kernel.execute(new PeerCommand.Create(file, "file")),
                    () -> kernel.execute(new FileCommand.Read(file, buffer)),
                    () -> kernel.execute(new FileCommand.Write(file, buffer)),
                    () -> kernel.execute(new FileCommand.TypeOfFileSystem(file)),
                    () -> kernel.execute(new ProcessCommand.Wait(true)),
                    () -> kernel.execute(ProgCommand.Load.of(1, "on", new byte[16], "GPL")));
            for (Supplier<Object> call : all) {
                kernel.made.clear();
                kernel.fail(1, Errno.EINTR);
                close(call.get());
                assertThat(kernel.made.get(1)).isEqualTo(kernel.made.get(0));
            }
        }
        file.close();
        assertThat(kernel.open).isEmpty();
    }

    /** A signal ends a wait, whose caller looks at the clock. */
    @Test
    void aSignalEndsAWait() {
        try (Fd epoll = kernel.execute(new FileCommand.EpollCreate("ring"));
                Arena arena = Arena.ofConfined()) {
            kernel.fail(kernel.made.size() + 1, Errno.EINTR);
            assertThat(kernel.execute(new FileCommand.EpollWait(epoll, arena.allocate(64), -1)))
                    .isZero();
        }
    }

    /** Linux has released the number by then: another thread may have it already. */
    @ParameterizedTest
    @EnumSource(
            value = Errno.class,
            names = {"EINTR", "EIO", "ENOSPC", "EDQUOT"})
    void aCloseIsNeverRepeated(Errno errno) {
        Fd file = kernel.execute(new FileCommand.Open(Path.of("/file"), OpenFlags.RDONLY));
        kernel.made.clear();
        kernel.fail(1, errno);
        if (errno == Errno.EINTR) {
            file.close();
        } else {
            assertThatThrownBy(file::close)
                    .isInstanceOf(SyscallException.class)
                    .hasMessageContaining("close of /file")
                    .hasMessageContaining(errno.name());
        }
        file.close();
        assertThat(kernel.made).containsExactly(Syscall.CLOSE);
    }
}
