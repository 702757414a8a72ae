package io.bpf4j.loader.link;

import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.io.InputStream;
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
 * <p>A name with {@code .so} in it is looked up where the dynamic linker looks: LD_LIBRARY_PATH, its cache, its default
 * directories. Any other name is a program in PATH or, if none has that name, a library without its {@code .so} and
 * version. The file need not be executable, because libraries rarely are.
 *
 * <p>A machine may have a library for several ABIs (multilib: x86-64, i386 and x32). The library for the ABI of this
 * process comes first, whatever the order of the list; the dynamic linker does the same.
 */
public final class LibrarySearch {
    /** The search path if PATH is not set, as in a shell. */
    private static final String DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    /** Length of the start of the ELF header: class, byte order and so on, then type and machine (elf(5)). */
    private static final int HEADER_START = 20;

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
                libraries,
                LdCache.read(Path.of("/etc/ld.so.cache")),
                directories(System.getenv().getOrDefault("PATH", DEFAULT_PATH)));
    }

    /** The file of a name. A name with a slash, or that is not found, is returned as a path unchanged. */
    public Path find(String name) {
        if (name.isEmpty() || name.indexOf('/') >= 0) {
            return FileName.of(name).path();
        }
        Optional<Path> found = name.contains(".so")
                ? best(Stream.concat(in(libraries, name), cache.byFileName(name).stream()))
                : in(programs, name).findFirst().or(() -> best(cache.byLinkName(name).stream()));
        return found.orElse(FileName.of(name).path());
    }

    private static Stream<Path> in(List<Path> directories, String name) {
        return directories.stream().map(FileName.of(name)::below).filter(Files::isRegularFile);
    }

    /** The first candidate for the ABI of this process, else the first. */
    private static Optional<Path> best(Stream<Path> candidates) {
        List<Path> all = candidates.toList();
        String abi = abi(Host.running().self().resolve("exe"));
        return all.stream()
                .filter(path -> abi(path).equals(abi))
                .findFirst()
                .or(() -> all.stream().findFirst());
    }

    /** Class, byte order and machine of an ELF file; empty if it is not an ELF file or can't be read. */
    private static String abi(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] start = in.readNBytes(HEADER_START);
            return start.length < HEADER_START ? "" : start[4] + " " + start[5] + " " + start[18] + " " + start[19];
        } catch (IOException e) {
            return "";
        }
    }

    private static List<Path> directories(@Nullable String variable) {
        return variable == null
                ? List.of()
                : Stream.of(variable.split(":", -1))
                        .filter(d -> !d.isEmpty())
                        .map(directory -> FileName.of(directory).path())
                        .toList();
    }
}
