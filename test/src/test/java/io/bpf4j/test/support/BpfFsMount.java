package io.bpf4j.test.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A BPF file system of a test's own, in a temporary directory; closing unmounts it, and what is pinned there goes. */
public final class BpfFsMount implements AutoCloseable {
    private final Path directory;

    private BpfFsMount(Path directory) {
        this.directory = directory;
    }

    /**
     * Mounts one.
     *
     * @param options of mount(8): {@code delegate_cmds=any}, or empty
     */
    public static BpfFsMount mount(String options) {
        try {
            Path directory = Files.createTempDirectory("bpf4j-bpffs");
            Commands.Result result = Commands.run(
                    options.isEmpty()
                            ? List.of("mount", "-t", "bpf", "bpf", directory.toString())
                            : List.of("mount", "-t", "bpf", "-o", options, "bpf", directory.toString()));
            if (result.exitCode() != 0) {
                Files.delete(directory);
                throw new IOException("mount -t bpf: " + result.err());
            }
            return new BpfFsMount(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    public static BpfFsMount mount() {
        return mount("");
    }

    /** Whether this process may mount one. */
    static boolean isAllowed() {
        try (BpfFsMount mount = mount()) {
            return Files.isDirectory(mount.directory);
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    public Path directory() {
        return directory;
    }

    public Path path(String name) {
        return directory.resolve(name);
    }

    @Override
    public void close() {
        try {
            Commands.check(List.of("umount", directory.toString()));
            Files.delete(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
