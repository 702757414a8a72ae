package io.bpf4j.test.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A control group (version 2) of a test, below this process's own. Closing removes it when its processes have ended. */
public final class ControlGroup implements AutoCloseable {
    private final Path directory;

    private ControlGroup(Path directory) {
        this.directory = directory;
    }

    /** Makes one, with a name that no other process uses. */
    public static ControlGroup create(String name) throws IOException {
        return at(OwnCgroup.directory()
                .resolve(name + "-" + ProcessHandle.current().pid() + "-" + System.nanoTime()));
    }

    private static ControlGroup at(Path directory) throws IOException {
        return new ControlGroup(Files.createDirectory(directory));
    }

    /** Makes a group below this one. */
    public ControlGroup below(String name) throws IOException {
        return at(directory.resolve(name));
    }

    /** Its path from the root of the groups that this process sees. */
    public String path() {
        return "/" + OwnCgroup.mount().orElseThrow().relativize(directory);
    }

    /** Makes the group threaded: it may have some threads of a process, which the group above has. */
    public void makeThreaded() throws IOException {
        Files.writeString(directory.resolve("cgroup.type"), "threaded");
    }

    /** The shell command by which a process moves itself into the group. */
    public String enter() {
        return "echo $$ > " + directory.resolve("cgroup.procs");
    }

    /** Moves a process into the group. */
    public void add(long pid) throws IOException {
        Files.writeString(directory.resolve("cgroup.procs"), Long.toString(pid));
    }

    @Override
    public void close() {
        try {
            Await.until(
                    "removed " + directory,
                    () -> directory.toFile().delete() || !Files.exists(directory),
                    removed -> removed);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
