package io.bpf4j.loader.link;

import java.nio.file.Path;

/** The file to attach uprobes to: a path for the kernel to open, or an open file. <i>Immutable.</i> */
public sealed interface TargetFile permits TargetFile.AtPath, OpenFile {

    /**
     * The path that the kernel opens: {@code /proc/PID/root/…} reaches into another mount namespace, and {@code
     * /proc/self/fd/N} is an open file even if it was renamed or deleted.
     */
    Path path();

    /** A file by its path. */
    static TargetFile of(Path path) {
        return new AtPath(path);
    }

    /** A file by its path, which is resolved when the kernel opens it. */
    record AtPath(Path path) implements TargetFile {
        @Override
        public String toString() {
            return path.toString();
        }
    }
}
