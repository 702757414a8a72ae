package io.bpf4j.sys.internal.call;

import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.sys.kernel.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The execution of a command: memory for the arguments of its system calls, the file descriptors that stay open until
 * the calls return, and the conversion of results. <i>Confined.</i>
 *
 * <p>Tested by {@code LinuxKernelTest}.
 */
class Call implements SegmentAllocator, AutoCloseable {
    /** BPF_F_TOKEN_FD. */
    private static final int TOKEN_FD = 1 << 16;

    private final LinuxKernel kernel;
    private final Command<?> command;
    private final List<Fd> held = new ArrayList<>(2);
    private @Nullable Arena arena;
    private @Nullable Fd token;

    Call(LinuxKernel kernel, Command<?> command) {
        this.kernel = kernel;
        this.command = command;
    }

    LinuxKernel kernel() {
        return kernel;
    }

    /** The number of a file descriptor, which stays open until this call ends; 0 for none. */
    int hold(@Nullable Fd fd) {
        if (fd == null) {
            return 0;
        }
        int number = fd.hold();
        held.add(fd);
        return number;
    }

    /** Zeroed memory, until the end of this call. */
    @Override
    public MemorySegment allocate(long size, long alignment) {
        if (arena == null) {
            arena = Arena.ofConfined();
        }
        return arena.allocate(size, alignment);
    }

    MemorySegment allocate(StructLayout layout) {
        return allocate(layout.size(), Long.BYTES);
    }

    /** The address of a path's bytes, terminated by NUL. */
    long path(Path path) {
        byte[] bytes = FileName.of(path).bytes();
        return Struct.bytes(this, Arrays.copyOf(bytes, bytes.length + 1)).address();
    }

    /** The thread's memory for the struct of its current system call, zeroed. */
    MemorySegment attr(StructLayout layout) {
        return attr(layout.size());
    }

    /** The same with the values of the first fields, in the order in which the layout declares them. */
    MemorySegment attr(StructLayout layout, long... values) {
        MemorySegment attr = attr(layout);
        layout.setAll(attr, values);
        return attr;
    }

    MemorySegment attr(long size) {
        return Libc.Scratch.get().attr.asSlice(0, size).fill((byte) 0);
    }

    /** Sets the token that the following system call uses, if it accepts one. */
    void useToken(Fd fd) {
        token = fd;
    }

    /** Adds the token, if there is one: its file descriptor, and the flag BPF_F_TOKEN_FD. */
    void addToken(StructLayout layout, MemorySegment attr, String flags, String field) {
        if (token != null) {
            layout.set(attr, flags, layout.u32(attr, flags) | TOKEN_FD);
            layout.set(attr, field, hold(token));
        }
    }

    /** The result, or minus the error number. */
    long syscall(Syscall name, long a, long b, long c, long d, long e, long f) {
        return Libc.syscall(name, a, b, c, d, e, f);
    }

    long syscall(Syscall name, long a, long b, long c) {
        return syscall(name, a, b, c, 0, 0, 0);
    }

    /** Repeats the call while a signal interrupts it (EINTR). */
    static long retryOnSignal(LongSupplier call) {
        long result;
        do {
            result = call.getAsLong();
        } while (result == -Errno.EINTR.number());
        return result;
    }

    /** bpf(2): the result, or minus the error number. */
    long bpfResult(BpfCommand command, MemorySegment attr) {
        return syscall(Syscall.BPF, command.number(), attr.address(), attr.byteSize());
    }

    /** bpf(2): the result, or an exception. */
    int bpf(BpfCommand command, MemorySegment attr) {
        return check(bpfResult(command, attr));
    }

    /** {@link #bpfResult} with the addresses of two segments in the struct, whose arenas stay open during the call. */
    long bpfResult(BpfCommand command, MemorySegment attr, MemorySegment first, MemorySegment second) {
        return Libc.bpf(command, Libc.Scratch.get(), attr.byteSize(), first, second);
    }

    /** For commands that attach and detach, which may sleep: a virtual thread must not make such a call itself. */
    int bpfOffCarrier(BpfCommand command, MemorySegment attr) {
        return check(OffCarrier.call(() -> bpfResult(command, attr)));
    }

    /**
     * Kernels before 5.11 charge maps, programs and BTF to RLIMIT_MEMLOCK, 64 KiB by default, and return EPERM when it
     * is used up. So after the first EPERM the limit is raised, if permitted, and the call is repeated.
     */
    long bpfWithMemlock(BpfCommand command, MemorySegment attr) {
        long result = bpfResult(command, attr);
        return result == -Errno.EPERM.number() && kernel.raiseMemlock() ? bpfResult(command, attr) : result;
    }

    /** A result that is a file descriptor, a small number or 0; a negative one becomes an exception. */
    int check(long result) {
        if (result < 0) {
            throw kernel.failure(command, (int) -result);
        }
        return (int) result;
    }

    /** A new file descriptor from the result of a system call. */
    Fd fd(long result, String description) {
        int number = check(result);
        try {
            return Fd.of(kernel, number, description);
        } catch (Error e) {
            // There is no memory for its owner, and no other code has the number.
            syscall(Syscall.CLOSE, number, 0, 0);
            throw e;
        }
    }

    /** Frees the memory and releases the descriptors. A second call has no effect. */
    @Override
    public void close() {
        if (arena != null) {
            arena.close();
            arena = null;
        }
        if (!held.isEmpty()) {
            try {
                held.removeLast().release();
            } finally {
                close(); // releases the others, too, if one that was closed meanwhile can't be closed
            }
        }
    }
}
