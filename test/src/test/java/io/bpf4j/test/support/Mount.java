package io.bpf4j.test.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A file system that a test has mounted. Closing unmounts it and returns when it is gone. */
public final class Mount implements AutoCloseable {
    private final Path directory;

    private Mount(Path directory) {
        this.directory = directory;
    }

    /**
     * Mounts one.
     *
     * @param type for mount(8): {@code tmpfs}
     * @param options of mount(8), or empty
     * @param directory made if it is not there
     */
    public static Mount of(String type, String options, Path directory) throws IOException {
        List<String> command = new ArrayList<>(List.of("mount", "-t", type));
        if (!options.isEmpty()) {
            command.addAll(List.of("-o", options));
        }
        command.addAll(List.of("none", Files.createDirectories(directory).toString()));
        return of(command, directory);
    }

    /** Mounts a directory at another place, too. */
    public static Mount bind(Path source, Path directory) throws IOException {
        return of(List.of("mount", "--bind", source.toString(), directory.toString()), directory);
    }

    private static Mount of(List<String> command, Path directory) throws IOException {
        try {
            Commands.Result result = Commands.run(command);
            if (result.exitCode() != 0) {
                throw new IOException(String.join(" ", command) + ": " + result.err());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        return new Mount(directory);
    }

    /** Whether this process may mount one. */
    static boolean isAllowed(String type, String options) {
        try {
            Path directory = Files.createTempDirectory("bpf4j-mount");
            try (Mount mount = of(type, options, directory)) {
                return Files.isDirectory(mount.directory());
            } catch (IOException e) {
                return false;
            } finally {
                Files.delete(directory);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Path directory() {
        return directory;
    }

    /**
     * Unmounts. Another program of this machine that looks at all files or mounts, as {@code list --all} does, keeps it
     * busy for a moment; so it is tried until it succeeds.
     */
    @Override
    public void close() {
        try {
            Await.until(
                    "unmounted " + directory,
                    () -> Commands.run(List.of("umount", directory.toString())),
                    result -> result.exitCode() == 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
