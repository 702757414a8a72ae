package io.bpf4j.test.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** The control group of version 2 that this process is in. */
public final class OwnCgroup {
    private static final Path MOUNTS = Path.of("/proc/self/mountinfo");

    private OwnCgroup() {}

    /** Its directory. */
    public static Path directory() {
        return find().orElseThrow();
    }

    static Optional<Path> find() {
        return mount().map(mount -> {
            Path own = mount.resolve(pathBelow());
            // Where the mount shows only a part of the tree, the path may lead nowhere.
            return Files.isDirectory(own) ? own : mount;
        });
    }

    /** Where the groups are mounted. */
    public static Optional<Path> mount() {
        try (Stream<String> lines = Files.lines(MOUNTS)) {
            return lines.filter(line -> line.contains(" - cgroup2 "))
                    .map(line -> Path.of(line.split(" ", 6)[4]))
                    .findFirst();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String pathBelow() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/cgroup"))) {
            return lines.filter(line -> line.startsWith("0::/"))
                    .map(line -> line.substring("0::/".length()))
                    .findFirst()
                    .orElse("");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
