package io.bpf4j.sys.internal.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Memory mapped from a file descriptor. <i>Thread-safe.</i>
 *
 * <p>The segment belongs to a shared arena, so an access after {@link #close}, on any thread, throws an
 * IllegalStateException and does not crash the process.
 *
 * <p>Tested by {@code LinuxKernelTest}.
 */
public final class Mapping implements AutoCloseable {
    private final Arena arena;
    private final MemorySegment segment;
    private final LeakDetector.Entry leak;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Mapping(String description, Arena arena, MemorySegment segment, Runnable unmap) {
        this.arena = arena;
        this.segment = segment;
        this.leak = LeakDetector.watch(this, description, unmap);
    }

    /** Takes ownership of a mapping that the kernel just created. */
    static Mapping of(Kernel kernel, long address, long size, String description) {
        Runnable unmap = () -> kernel.execute(new FileCommand.Unmap(address, size, description));
        try {
            Arena arena = Arena.ofShared();
            MemorySegment segment = Restricted.view(MemorySegment.ofAddress(address), size, arena);
            return new Mapping(description, arena, segment, unmap);
        } catch (Error e) {
            // There is no memory for its owner, and no other code has the address.
            UndoStack.of(unmap).closeAfter(e);
            throw e;
        }
    }

    /** A mapping of ordinary memory, for tests without a kernel; {@code unmapped} runs when it is closed. */
    public static Mapping ofMemory(String description, MemorySegment memory, Runnable unmapped) {
        Arena arena = Arena.ofShared();
        return new Mapping(description, arena, Restricted.view(memory, memory.byteSize(), arena), unmapped);
    }

    public MemorySegment segment() {
        return segment;
    }

    /**
     * Unmaps the memory. A second close has no effect.
     *
     * @throws IllegalStateException if a native call is using the memory; close may be called again later
     */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            try {
                // First make the memory inaccessible to Java code, then unmap it.
                arena.close();
            } catch (IllegalStateException e) {
                closed.set(false); // in use: the next close may find it free
                throw e;
            }
            leak.close();
        }
    }
}
