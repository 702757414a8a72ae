package io.bpf4j.loader;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.internal.sys.BpfFs;
import io.bpf4j.loader.kernel.Errno;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;
import java.util.function.Function;

/**
 * Pins all maps, or all programs, of an object in a directory: all of them or none.
 *
 * <p>Tested by {@code PinningTest} and {@code PinningOnKernelTest}.
 */
final class ObjectPinning {
    private ObjectPinning() {}

    /**
     * Pins each map or program under its name.
     *
     * @param isPinned whether the path is already the pin of this map or program; the pin then stays as it is
     */
    static <T> void pin(
            Iterable<? extends T> all,
            Function<T, String> name,
            Path directory,
            BiConsumer<T, Path> pin,
            BiPredicate<T, Path> isPinned,
            BiConsumer<T, Path> unpin) {
        Deque<Runnable> undo = new ArrayDeque<>();
        try {
            for (T each : all) {
                Path path = path(directory, name.apply(each));
                try {
                    pin.accept(each, path);
                    undo.push(() -> unpin.accept(each, path));
                } catch (SyscallException e) {
                    if (e.errno() != Errno.EEXIST || !isPinned.test(each, path)) {
                        throw e;
                    }
                }
            }
        } catch (RuntimeException e) {
            for (Runnable step : undo) {
                try {
                    step.run();
                } catch (RuntimeException failed) {
                    e.addSuppressed(failed);
                }
            }
            throw e;
        }
    }

    static Path path(Path directory, String name) {
        return BpfFs.in(directory, name);
    }
}
