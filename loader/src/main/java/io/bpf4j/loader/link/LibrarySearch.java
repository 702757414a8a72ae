package io.bpf4j.loader.link;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Finds a program or library that is given by its name alone: {@code libc.so.6}, {@code postgres}, {@code libstdc++}.
 * <i>Immutable.</i>
 *
 * <p>A name with {@code .so} in it is looked for where the dynamic linker looks: LD_LIBRARY_PATH, its cache, its default
 * directories. Any other is a program in PATH or, if there is none, a library without its {@code .so} and version. What is
 * found need not be executable: libraries rarely are.
 */
public final class LibrarySearch {
    private final List<Path> libraries;
    private final LdCache cache;
    private final List<Path> programs;

    LibrarySearch(List<Path> libraries, LdCache cache, List<Path> programs) {
        this.libraries = List.copyOf(libraries);
        this.cache = cache;
        this.programs = List.copyOf(programs);
    }

    /** The directories of this machine and environment. */
    public static LibrarySearch ofThisMachine() {
        String multiarch = switch (System.getProperty("os.arch", "")) {
            case "amd64" -> "x86_64-linux-gnu";
            case "ppc64le" -> "powerpc64le-linux-gnu";
            case String other -> other + "-linux-gnu";
        };
        List<Path> libraries = new ArrayList<>(directories(System.getenv("LD_LIBRARY_PATH")));
        for (String directory : List.of(
                "/lib/" + multiarch,
                "/usr/lib/" + multiarch,
                "/lib64",
                "/usr/lib64",
                "/lib",
                "/usr/lib",
                "/usr/local/lib")) {
            libraries.add(Path.of(directory));
        }
        return new LibrarySearch(
                libraries, LdCache.read(Path.of("/etc/ld.so.cache")), directories(System.getenv("PATH")));
    }

    /** The file of a name; a name with a slash, or that is found nowhere, is a path as it stands. */
    public Path find(String name) {
        if (name.isEmpty() || name.indexOf('/') >= 0) {
            return Path.of(name);
        }
        Optional<Path> found = name.contains(".so")
                ? in(libraries, name).or(() -> cache.byFileName(name))
                : in(programs, name).or(() -> cache.byLinkName(name));
        return found.orElse(Path.of(name));
    }

    private static Optional<Path> in(List<Path> directories, String name) {
        return directories.stream()
                .map(directory -> directory.resolve(name))
                .filter(Files::isRegularFile)
                .findFirst();
    }

    private static List<Path> directories(@Nullable String variable) {
        return variable == null
                ? List.of()
                : Stream.of(variable.split(":", -1))
                        .filter(d -> !d.isEmpty())
                        .map(Path::of)
                        .toList();
    }
}
