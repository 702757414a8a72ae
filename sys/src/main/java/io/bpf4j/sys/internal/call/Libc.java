package io.bpf4j.sys.internal.call;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bpf4j.sys.BpfException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * The native calls themselves: two functions of libc, {@code syscall} and {@code mmap}. <i>Thread-safe.</i>
 *
 * <p>All results follow the kernel's convention: a negative result is minus the error number. libc instead returns -1
 * and stores the number in the thread's errno. The JVM may overwrite errno before Java code reads it, so the linker
 * captures it in the same step.
 *
 * <p>One handle with six long arguments serves every call, because creating a handle takes milliseconds and most calls
 * are rare. Memory is passed as a plain address, and the caller keeps it alive; only map operations, which take
 * segments from users, have a handle that takes segments, so that the linker keeps their arenas open during the call.
 * mmap has its own handle because s390x passes its arguments in a block of memory, which libc hides.
 *
 * <p>Tested by {@code LinuxKernelTest}.
 */
final class Libc {
    /**
     * The type of all handles to functions that take numbers: for another handle of the same type the linker only binds
     * the address. mmap has six arguments, some of them ints: it ignores a seventh argument, and the calling
     * conventions of 64-bit machines pass an int like a long.
     */
    static final FunctionDescriptor SEVEN_LONGS = FunctionDescriptor.of(
            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    /** The type of the handle to syscall whose last arguments may be segments. */
    static final FunctionDescriptor WITH_SEGMENTS =
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS);

    /** Null if calls are not possible, for the reason {@link #UNUSABLE}. */
    private static final @Nullable MethodHandle SYSCALL;

    private static final String UNUSABLE;

    static {
        MethodHandle syscall = null;
        String unusable = Syscall.whyUnsupported();
        // An error during class initialisation would be reported only once, and later as a missing class.
        try {
            syscall = unusable.isEmpty() ? link("syscall", SEVEN_LONGS) : null;
        } catch (UnsupportedOperationException e) {
            unusable = String.valueOf(e.getMessage());
        } catch (IllegalCallerException e) {
            unusable = nativeAccessDenied(Libc.class.getModule());
        }
        SYSCALL = syscall;
        UNUSABLE = unusable;
    }

    private Libc() {}

    /** Created when first needed: programs that only load and attach never need it. */
    private static final class OnSegments {
        static final MethodHandle SYSCALL = link("syscall", WITH_SEGMENTS);
    }

    private static final class Mmap {
        static final MethodHandle MMAP = link("mmap", SEVEN_LONGS);
    }

    /** Memory that each thread reuses for all calls: the captured errno, and the struct of a call. */
    static final class Scratch {
        /** More than the largest struct here; {@code union bpf_attr} has 168 bytes in 6.18. */
        static final int ATTR_SIZE = 256;

        private static final MemoryLayout ERRNO = Linker.Option.captureStateLayout();
        private static final ThreadLocal<Scratch> LOCAL = ThreadLocal.withInitial(Scratch::new);

        // Automatic: freed after the thread ends.
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

    /** A system call whose arguments are numbers and addresses; returns the result or minus the error number. */
    static long syscall(Syscall name, long a, long b, long c, long d, long e, long f) {
        if (SYSCALL == null) {
            throw new BpfException(UNUSABLE);
        }
        Scratch scratch = Scratch.get();
        try {
            return scratch.result((long) SYSCALL.invokeExact(scratch.errno, name.number(), a, b, c, d, e, f));
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    /**
     * bpf(2) with the struct in {@code scratch.attr}, which contains the addresses of two segments. The segments are
     * also passed as further arguments, which the kernel ignores, so that the linker keeps them alive.
     */
    static long bpf(BpfCommand command, Scratch scratch, long size, MemorySegment first, MemorySegment second) {
        try {
            return scratch.result((long) OnSegments.SYSCALL.invokeExact(
                    scratch.errno, Syscall.BPF.number(), (long) command.number(), scratch.attr, size, first, second));
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw e; // heap memory, or a closed arena: the caller's mistake
        } catch (Throwable t) {
            throw unexpected(t);
        }
    }

    static long mmap(long address, long size, int protection, int flags, int fd, long offset) {
        Scratch scratch = Scratch.get();
        try {
            return scratch.result((long) Mmap.MMAP.invokeExact(
                    scratch.errno, address, size, (long) protection, (long) flags, (long) fd, offset, 0L));
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

    /**
     * A handle to a function of libc that captures errno. Only this method needs native access.
     *
     * @param type one that META-INF/native-image of this module names, too
     * @throws IllegalCallerException without native access
     */
    @SuppressWarnings("restricted")
    private static MethodHandle link(String function, FunctionDescriptor type) {
        Linker linker = Linker.nativeLinker();
        MemorySegment address = linker.defaultLookup()
                .find(function)
                .orElseThrow(() -> new UnsupportedOperationException("libc has no function " + function));
        return linker.downcallHandle(
                address, type, Linker.Option.firstVariadicArg(1), Linker.Option.captureCallState("errno"));
    }

    static String nativeAccessDenied(Module module) {
        return "Java denies bpf4j native access, which system calls require: run java with" + " --enable-native-access="
                + (module.isNamed() ? module.getName() : "ALL-UNNAMED");
    }
}
