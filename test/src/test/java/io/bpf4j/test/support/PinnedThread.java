package io.bpf4j.test.support;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.BitSet;

/**
 * Keeps the calling thread on one CPU until it is closed, by the same thread: for what is per CPU and would be split,
 * or never told, if the scheduler moved the thread in between. <i>Confined.</i>
 */
public final class PinnedThread implements AutoCloseable {
    /** Bytes of a cpu_set_t: 1024 CPUs, one bit each (sched_setaffinity(2)). */
    private static final int SET = 128;

    private static final MethodHandle SET_AFFINITY = call("sched_setaffinity");
    private static final MethodHandle GET_AFFINITY = call("sched_getaffinity");

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment before = arena.allocate(SET, Long.BYTES);

    private PinnedThread() {
        invoke(GET_AFFINITY, before);
    }

    /** Moves the calling thread to that CPU, which it must be allowed to run on, and keeps it there. */
    public static PinnedThread to(int cpu) {
        PinnedThread pinned = new PinnedThread();
        MemorySegment only = pinned.arena.allocate(SET, Long.BYTES);
        long word = cpu / Long.SIZE;
        only.setAtIndex(ValueLayout.JAVA_LONG, word, 1L << (cpu % Long.SIZE));
        invoke(SET_AFFINITY, only);
        return pinned;
    }

    /** The CPUs that the calling thread may run on, in order. */
    public static int[] allowed() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment set = arena.allocate(SET, Long.BYTES);
            invoke(GET_AFFINITY, set);
            return BitSet.valueOf(set.toArray(ValueLayout.JAVA_LONG)).stream().toArray();
        }
    }

    @Override
    public void close() {
        try (arena) {
            invoke(SET_AFFINITY, before);
        }
    }

    @SuppressWarnings("restricted") // the tests run with --enable-native-access
    private static MethodHandle call(String name) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow(name),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
    }

    /** Thread 0 is the calling one. */
    private static void invoke(MethodHandle call, MemorySegment set) {
        try {
            int result = (int) call.invokeExact(0, (long) SET, set);
            if (result < 0) {
                throw new AssertionError("the affinity of this thread can't be read or set");
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
