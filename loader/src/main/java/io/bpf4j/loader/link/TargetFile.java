package io.bpf4j.loader.link;

import java.nio.file.Path;

/** The file that uprobes go into: one that the kernel finds by its path, or one that is held open. <i>Immutable.</i> */
public sealed interface TargetFile permits TargetFile.AtPath, OpenFile {

    /**
     * Where the kernel finds it: {@code /proc/PID/root/…} reaches into another mount namespace, and {@code
     * /proc/self/fd/N} is an open file whatever became of its name.
     */
    Path path();

    /** What messages call it. */
    String name();

    /** A file by its path. */
    static TargetFile of(Path path) {
        return new AtPath(path);
    }

    /** A file by its path; which file that is, is decided when the kernel opens it. */
    record AtPath(Path path) implements TargetFile {
        @Override
        public String name() {
            return path.toString();
        }

        @Override
        public String toString() {
            return name();
        }
    }
}
