package io.bpf4j.sys.internal.call;

import io.bpf4j.sys.Host;
import java.lang.foreign.MemorySegment;

/**
 * The only interface between bpf4j and Linux: each request to the kernel is a {@link Command} passed to this interface.
 *
 * <p>{@link LinuxKernel} makes the system calls; tests use a scripted kernel instead and do not need root.
 * <i>Thread-safe.</i>
 */
public interface Kernel {
    /** The kernel of a machine: by system calls, unless the machine was given another one ({@link Host#with}). */
    static Kernel of(Host host) {
        return host.known(
                Kernel.class, machine -> new LinuxKernel(machine.root().resolve("proc")));
    }

    /**
     * Executes a command. File descriptors that the command uses are held during the call.
     *
     * @return the result of the command's type; the caller owns a new file descriptor
     * @throws io.bpf4j.sys.SyscallException if the kernel returns an error, except for commands whose result
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
