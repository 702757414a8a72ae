package io.bpf4j.loader.internal.sys;

import io.bpf4j.loader.error.ProcessRights;
import io.bpf4j.loader.error.SyscallException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/** The running kernel, called through the foreign function interface. <i>Thread-safe.</i> */
public final class LinuxKernel implements Kernel {
    private final Path proc;
    private final BpfCalls bpf;
    private final FileCalls files;
    private final ProcessCalls processes;

    /** Reads this process's information, such as its file descriptors and rights, below the given {@code /proc}. */
    public LinuxKernel(Path proc) {
        this.proc = proc;
        this.bpf = new BpfCalls(this, proc.resolve("self"));
        this.files = new FileCalls(this, proc.resolve("self/fd"));
        this.processes = new ProcessCalls(this);
    }

    @Override
    @SuppressWarnings("unchecked") // each record's type argument is what its case gives
    public <R> R execute(Command<R> command) {
        List<Fd> fds = command.fds();
        int held = 0;
        try {
            for (Fd fd : fds) {
                fd.hold();
                held++;
            }
            return (R) dispatch(command);
        } finally {
            for (int i = 0; i < held; i++) {
                fds.get(i).release();
            }
        }
    }

    @Override
    public int element(MapCommand.Op op, Fd map, MemorySegment key, MemorySegment value, long flags) {
        map.hold();
        try {
            return bpf.element(op, map, key, value, flags);
        } finally {
            map.release();
        }
    }

    private Object dispatch(Command<?> command) {
        return switch (command) {
            case MapCommand<?> map -> bpf.execute(map);
            case ProgCommand<?> program -> bpf.execute(program);
            case ObjectCommand<?> object -> bpf.execute(object);
            case LinkCommand<?> link -> bpf.execute(link);
            case TokenCommand<?> token -> bpf.execute(token);
            case PerfCommand<?> perf -> files.execute(perf);
            case FileCommand<?> file -> files.execute(file);
            case ProcessCommand<?> process -> processes.execute(process);
        };
    }

    /** The result of a call that returns a file descriptor or 0; a negative result becomes an exception. */
    int check(Command<?> command, long result) {
        if (result < 0) {
            throw failure(command, (int) -result);
        }
        return (int) result;
    }

    SyscallException failure(Command<?> command, int errno) {
        return FailureHints.explained(command, errno, ProcessRights.read(proc));
    }
}
