package io.bpf4j.loader;

import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.BpfFs;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ObjectCommand.Kind;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.Errno;
import java.nio.file.Path;
import java.util.Map;

/**
 * Pins all maps, or all programs, of an object under their names in a directory.
 *
 * <p>Tested by {@code PinningTest} and {@code PinningOnKernelTest}.
 */
final class ObjectPinning {
    private ObjectPinning() {}

    /** Pins all of them or none; an object that is already pinned under its name stays pinned. */
    static void pin(Kernel kernel, Kind kind, Map<String, Fd> objects, Path directory) {
        UndoStack undo = new UndoStack();
        try {
            objects.forEach((name, object) -> {
                Path path = BpfFs.in(directory, name);
                try {
                    if (BpfFs.pin(kernel, object, path)) {
                        undo.push(() -> BpfFs.removeDirectoryOf(kernel, path));
                    }
                    undo.push(() -> BpfFs.unpin(kernel, object, kind, path));
                } catch (SyscallException e) {
                    if (e.errno() != Errno.EEXIST || !BpfFs.isPinned(kernel, object, kind, path)) {
                        throw e;
                    }
                }
            });
        } catch (RuntimeException | Error e) {
            undo.closeAfter(e);
            throw e;
        }
    }
}
