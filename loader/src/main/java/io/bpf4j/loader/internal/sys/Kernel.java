package io.bpf4j.loader.internal.sys;

import java.lang.foreign.MemorySegment;

/**
 * The one seam between bpf4j and Linux: whatever is asked of the kernel is a {@link Command} given to this.
 *
 * <p>{@link LinuxKernel} makes the system calls; tests put a scripted kernel in its place and need no root.
 * <i>Thread-safe.</i>
 */
public interface Kernel {
    /**
     * Does what the command asks. File descriptors that the command uses are held for the time of the call.
     *
     * @return what the command's type says; a new descriptor belongs to the caller
     * @throws io.bpf4j.loader.error.SyscallException if the kernel refuses, except for commands whose result carries the
     *     error number
     * @throws IllegalStateException if a descriptor of the command is closed
     */
    <R> R execute(Command<R> command);

    /**
     * {@link MapCommand.Element} without the object: map operations run millions of times, and an implementation may do
     * this one without allocating.
     *
     * @return 0 or the error number
     */
    default int element(MapCommand.Op op, Fd map, MemorySegment key, MemorySegment value, long flags) {
        return execute(new MapCommand.Element(op, map, key, value, flags));
    }
}
