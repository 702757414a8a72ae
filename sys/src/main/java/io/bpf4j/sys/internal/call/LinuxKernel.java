package io.bpf4j.sys.internal.call;

import io.bpf4j.sys.SyscallException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The running kernel, called through the foreign function interface. <i>Thread-safe.</i> */
public class LinuxKernel implements Kernel {
    private final Path proc;
    /** Null before the first attempt. */
    private @Nullable Boolean memlockRaised;

    /** Reads this process's information, such as its file descriptors and rights, below the given {@code /proc}. */
    public LinuxKernel(Path proc) {
        this.proc = proc;
    }

    @Override
    public <R> R execute(Command<R> command) {
        try (Call call = call(command)) {
            return ended(call, command.run(call));
        }
    }

    /**
     * The result, after the call has released the descriptors that it held. A descriptor that was closed meanwhile is
     * closed only then; if that fails, the caller does not get the result, so a new descriptor in it is closed.
     */
    private static <R> R ended(Call call, R result) {
        try {
            call.close();
            return result;
        } catch (RuntimeException | Error e) {
            UndoStack.of(() -> giveBack(result)).closeAfter(e);
            throw e;
        }
    }

    private static void giveBack(Object result) {
        switch (result) {
            case Fd fd -> fd.close();
            case LoadResult.Loaded loaded -> loaded.fd().close();
            case Mapping mapping -> mapping.close();
            case FileCommand.Pipe.Ends ends -> {
                try (UndoStack both = new UndoStack()) {
                    both.own(ends.write());
                    both.own(ends.read());
                }
            }
            default -> {}
        }
    }

    /** A test lets the system calls of a command fail. */
    Call call(Command<?> command) {
        return new Call(this, command);
    }

    @Override
    public int element(MapCommand.Op op, Fd map, MemorySegment key, MemorySegment value, long flags) {
        int number = map.hold();
        try {
            return MapCommand.Element.run(op, number, key, value, flags);
        } finally {
            map.release();
        }
    }

    /** The directory of this process. */
    Path self() {
        return proc.resolve("self");
    }

    /**
     * Raises the limit of locked memory, once. Returns whether it is raised: also true if another thread raised it
     * after the system call of this thread had failed.
     */
    synchronized boolean raiseMemlock() {
        Boolean raised = memlockRaised;
        if (raised == null) {
            raised = execute(new FileCommand.RaiseMemlock()) == 0;
            memlockRaised = raised;
        }
        return raised;
    }

    SyscallException failure(Command<?> command, int errno) {
        return FailureHints.explained(command, errno, () -> ProcessRights.read(proc));
    }
}
