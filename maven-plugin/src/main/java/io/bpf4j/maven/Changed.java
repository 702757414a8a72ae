package io.bpf4j.maven;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Writes files only if their content changes, so that tools that compare modification times don't work in vain. */
final class Changed {
    private Changed() {}

    /** Whether the file was written. Its folder is made. */
    static boolean write(Path file, byte[] content) throws IOException {
        if (Files.isRegularFile(file) && Arrays.equals(Files.readAllBytes(file), content)) {
            return false;
        }
        Files.createDirectories(file.getParent());
        Files.write(file, content);
        return true;
    }
}
