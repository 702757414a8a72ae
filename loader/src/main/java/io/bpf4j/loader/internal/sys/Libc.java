package io.bpf4j.loader.internal.sys;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The native calls themselves: two functions of libc, {@code syscall} and {@code mmap}. <i>Thread-safe.</i>
 *
 * <p>All results follow the kernel's own convention: what is negative is minus the error number. libc instead returns -1
 * and leaves the number in the thread's errno, which the JVM may overwrite before Java code could look, so the linker
 * captures it in the same step.
 *
 * <p>One handle with six long arguments serves every call, since a handle costs milliseconds to make and most calls are
 * rare. Memory goes in as a plain address, and whoever calls keeps it alive; only map operations, which take segments
 * from users, have a handle that takes segments, so that the linker holds their arenas open for the time of the call.
 * mmap has its own because s390x takes its arguments in a block of memory, which libc knows and we need not.
 */
final class Libc {
    static final SyscallNumbers NUMBERS = SyscallNumbers.of(System.getProperty("os.arch", ""));

    private static final MethodHandle SYSCALL = link(
            "syscall",
            FunctionDescriptor.of(
                    JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
            Linker.Option.firstVariadicArg(1));

    private Libc() {}

    /** Made when first needed: programs that only load and attach never do. */
    private static final class OnSegments {
        static final MethodHandle SYSCALL = link(
                "syscall",
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS),
                Linker.Option.firstVariadicArg(1));
    }

    private static final class Mmap {
        static final MethodHandle MMAP = link(
                "mmap",
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    }

    /** What each thread reuses from call to call: where errno is captured, and room for the struct of a call. */
    static final class Scratch {
        /** More than the largest struct here; {@code union bpf_attr} has 168 bytes in 6.18. */
        static final int ATTR_SIZE = 256;

        private static final MemoryLayout ERRNO = Linker.Option.captureStateLayout();
        private static final ThreadLocal<Scratch> LOCAL = ThreadLocal.withInitial(Scratch::new);

        // Automatic: goes when the thread does.
        private final MemorySegment errno = Arena.ofAuto().allocate(ERRNO);
        final MemorySegment attr = Arena.ofAuto().allocate(ATTR_SIZE, 8);

        static Scratch get() {
            return LOCAL.get();
        }

        private long result(long returned) {
            // The captured state has one member on Linux, the C int errno.
            return returned == -1 ? -errno.get(JAVA_INT, 0) : returned;
        }
    }

    static long syscall(long number, long a, long b, long c) {
        return syscall(number, a, b, c, 0, 0, 0);
    }

    /** A system call whose arguments are numbers and addresses; gives the result or minus the error number. */
    static long syscall(long number, long a, long b, long c, long d, long e, long f) {
        Scratch scratch = Scratch.get();
        try {
            return scratch.result((long) SYSCALL.invokeExact(scratch.errno, number, a, b, c, d, e, f));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /** bpf(2) with the struct in {@code scratch.attr}. */
    static long bpf(int command, Scratch scratch, long size) {
        return syscall(NUMBERS.bpf(), command, scratch.attr.address(), size);
    }

    /**
     * bpf(2) with the struct in {@code scratch.attr}, which has the addresses of two segments in it. The segments are
     * passed as further arguments that the kernel does not look at: so the linker keeps them alive.
     */
    static long bpf(int command, Scratch scratch, long size, MemorySegment first, MemorySegment second) {
        try {
            return scratch.result((long) OnSegments.SYSCALL.invokeExact(
                    scratch.errno, NUMBERS.bpf(), (long) command, scratch.attr, size, first, second));
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw e; // heap memory, or a closed arena: the caller's mistake
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static long mmap(long address, long size, int protection, int flags, int fd, long offset) {
        Scratch scratch = Scratch.get();
        try {
            return scratch.result(
                    (long) Mmap.MMAP.invokeExact(scratch.errno, address, size, protection, flags, fd, offset));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    private static RuntimeException unexpected(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return new IllegalStateException("native call failed before it reached the kernel", thrown);
    }

    /** A handle to a function of libc that captures errno. The one place that asks for native access. */
    @SuppressWarnings("restricted")
    private static MethodHandle link(String function, FunctionDescriptor type, Linker.Option... options) {
        Linker linker = Linker.nativeLinker();
        Linker.Option[] all = new Linker.Option[options.length + 1];
        System.arraycopy(options, 0, all, 0, options.length);
        all[options.length] = Linker.Option.captureCallState("errno");
        MemorySegment address = linker.defaultLookup()
                .find(function)
                .orElseThrow(() -> new UnsupportedOperationException("libc has no function " + function));
        return linker.downcallHandle(address, type, all);
    }
}
