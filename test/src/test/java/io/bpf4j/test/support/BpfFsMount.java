package io.bpf4j.test.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A BPF file system of a test's own, in a temporary directory; closing unmounts it, and what is pinned there goes. */
public final class BpfFsMount implements AutoCloseable {
    private final Mount mount;

    private BpfFsMount(Mount mount) {
        this.mount = mount;
    }

    /**
     * Mounts one.
     *
     * @param options of mount(8): {@code delegate_cmds=any}, or empty
     */
    public static BpfFsMount mount(String options) {
        try {
            Path directory = Files.createTempDirectory("bpf4j-bpffs");
            try {
                return new BpfFsMount(Mount.of("bpf", options, directory));
            } catch (IOException e) {
                Files.delete(directory);
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static BpfFsMount mount() {
        return mount("");
    }

    /** Whether this process may mount one. */
    static boolean isAllowed() {
        try (BpfFsMount mount = mount()) {
            return Files.isDirectory(mount.directory());
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    public Path directory() {
        return mount.directory();
    }

    public Path path(String name) {
        return directory().resolve(name);
    }

    @Override
    public void close() {
        mount.close();
        try {
            Files.delete(directory());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
