package io.bpf4j.loader.internal.sys;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Memory mapped from a descriptor. <i>Thread-safe.</i>
 *
 * <p>The segment belongs to a shared arena, so that whoever touches it after {@link #close}, on whatever thread, gets an
 * IllegalStateException and not a crash of the process.
 */
public final class Mapping implements AutoCloseable {
    private final Arena arena;
    private final MemorySegment segment;
    private final LeakNet.Entry leak;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Mapping(String what, Arena arena, MemorySegment segment, Runnable unmap) {
        this.arena = arena;
        this.segment = segment;
        this.leak = LeakNet.watch(this, what, unmap);
    }

    /** Takes ownership of a mapping that the kernel just made. */
    static Mapping of(Kernel kernel, long address, long size, String what) {
        Arena arena = Arena.ofShared();
        MemorySegment segment = Restricted.view(MemorySegment.ofAddress(address), size, arena);
        return new Mapping(what, arena, segment, () -> kernel.execute(new FileCommand.Unmap(address, size)));
    }

    /** A mapping of ordinary memory, for tests without a kernel; {@code unmapped} runs when it is closed. */
    public static Mapping ofMemory(String what, MemorySegment memory, Runnable unmapped) {
        Arena arena = Arena.ofShared();
        return new Mapping(what, arena, Restricted.view(memory, memory.byteSize(), arena), unmapped);
    }

    public MemorySegment segment() {
        return segment;
    }

    /**
     * Unmaps. Does nothing the second time.
     *
     * @throws IllegalStateException if a native call is using the memory right now; it may be closed later
     */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            try {
                // First no Java code can reach the memory any more, then it goes.
                arena.close();
            } catch (IllegalStateException e) {
                closed.set(false); // in use: the next close may find it free
                throw e;
            }
            leak.close();
        }
    }
}
