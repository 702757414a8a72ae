package io.bpf4j.loader.link;

import java.nio.file.Path;

/**
 * The file that uprobes go into. <i>Immutable.</i>
 *
 * <p>The two differ where a file is held open ({@link OpenFile}): the kernel is led through the descriptor, and a person
 * who reads a message still wants to know which file it was.
 *
 * @param path where the kernel finds it: {@code /proc/PID/root/…} reaches into another mount namespace, and {@code
 *     /proc/self/fd/N} means an open file whatever became of its name. In that last form, kernels that can (Linux 7.2)
 *     are given the descriptor itself
 * @param name what messages call it
 */
public record TargetFile(Path path, String name) {

    /** A file by its path. */
    public static TargetFile of(Path path) {
        return new TargetFile(path, path.toString());
    }

    @Override
    public String toString() {
        return name;
    }
}
