package io.bpf4j.test.loader;

import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.OwnCgroup;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A control group of this process's own, below the one that it was in, until it is closed: programs that are attached
 * to it see the sockets and files of no other process. (Without systemd all processes of a machine may be in one
 * group.) All threads of this process are in it.
 */
final class OwnGroup implements AutoCloseable {
    private final Path before;
    private final Path directory;

    private OwnGroup(Path before, Path directory) {
        this.before = before;
        this.directory = directory;
    }

    /** Makes one and enters it. */
    static OwnGroup enter() throws IOException {
        Path before = OwnCgroup.directory();
        OwnGroup group = new OwnGroup(before, Files.createTempDirectory(before, "bpf4j-test"));
        try {
            moveTo(group.directory);
            return group;
        } catch (IOException e) {
            Files.delete(group.directory);
            throw e;
        }
    }

    private static void moveTo(Path group) throws IOException {
        // 0 is the process that writes.
        Files.writeString(group.resolve("cgroup.procs"), "0", StandardOpenOption.WRITE);
    }

    Path directory() {
        return directory;
    }

    /** Goes back to the former group, and removes this one. */
    @Override
    public void close() {
        try {
            moveTo(before);
            // Busy while something that this process has started in it ends.
            Await.until("removed " + directory, () -> directory.toFile().delete());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
