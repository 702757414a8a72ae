package io.bpf4j.sys.internal.call;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * A kernel that loads maps, programs and BTF with the rights of a token. Other commands are passed on unchanged: a
 * command on a file descriptor needs no further rights. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code TokenTest} and {@code BpfTokenTest}.
 */
public record TokenKernel(Kernel kernel, Fd token) implements Kernel, AutoCloseable {
    /**
     * Creates a token.
     *
     * @param bpffs root directory of a BPF file system that was mounted for this process's user namespace with rights
     *     delegated to it
     * @return the kernel; the caller closes it after the last load
     */
    public static TokenKernel open(Kernel kernel, Path bpffs) {
        try (Fd directory = kernel.execute(new FileCommand.Open(bpffs, OpenFlags.RDONLY))) {
            Fd token = kernel.execute(new TokenCommand.Create(directory));
            return UndoStack.closing(new TokenKernel(kernel, token), token::close, directory::close);
        }
    }

    @Override
    public <R> R execute(Command<R> command) {
        return kernel.execute(
                switch (command) {
                    case MapCommand.Create _, MapCommand.WhyRefused _, ProgCommand.Load _, ProgCommand.LoadBtf _ ->
                        new TokenCommand.With<>(command, token);
                    default -> command;
                });
    }

    @Override
    public int element(MapCommand.Op op, Fd map, MemorySegment key, MemorySegment value, long flags) {
        return kernel.element(op, map, key, value, flags);
    }

    /** Closes the token; nothing more can be loaded through this object. A second close has no effect. */
    @Override
    public void close() {
        token.close();
    }
}
