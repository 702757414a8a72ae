package io.bpf4j.loader.internal.sys;

import java.lang.foreign.MemorySegment;

/**
 * The only interface between bpf4j and Linux: each request to the kernel is a {@link Command} passed to this interface.
 *
 * <p>{@link LinuxKernel} makes the system calls; tests use a scripted kernel instead and do not need root.
 * <i>Thread-safe.</i>
 */
public interface Kernel {
    /**
     * Executes a command. File descriptors that the command uses are held during the call.
     *
     * @return the result of the command's type; the caller owns a new file descriptor
     * @throws io.bpf4j.loader.error.SyscallException if the kernel returns an error, except for commands whose result
     *     contains the error number
     * @throws IllegalStateException if a file descriptor of the command is closed
     */
    <R> R execute(Command<R> command);

    /**
     * {@link MapCommand.Element} without the record: map operations run millions of times, and an implementation may
     * execute this method without allocating.
     *
     * @return 0 or the error number
     */
    default int element(MapCommand.Op op, Fd map, MemorySegment key, MemorySegment value, long flags) {
        return execute(new MapCommand.Element(op, map, key, value, flags));
    }
}
