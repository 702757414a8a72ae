package io.bpf4j.cli.command;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.link.LibrarySearch;
import io.bpf4j.sys.Host;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Finds the file that a name on the command line means for the process of {@code -p}. In a container the process has
 * its own {@code libc.so.6}, which is not the file that this process finds by the same name; and a process that was
 * started before an upgrade still has the old file, which has no name any more. <i>Immutable.</i>
 *
 * <p>Tested by {@code CliFilesOfProcessTest}.
 */
final class FilesOfProcess {
    private final int pid;
    private final List<UsdtScan.File> mapped;
    private final Map<FileIdentity, UsdtScan.File> byIdentity = new HashMap<>();

    /** @param process the scan of the process */
    FilesOfProcess(int pid, UsdtScan process) {
        this.pid = pid;
        this.mapped = process.files();
        for (UsdtScan.File file : mapped) {
            identity(file.path()).ifPresent(identity -> byIdentity.putIfAbsent(identity, file));
        }
    }

    /**
     * Returns the first of these that exists: the file of this name, if the process has mapped it; a file that the
     * process has mapped under this name; if it is the bare name of a library or program, a mapped file of that name in
     * any directory; a file of this name in the process's mount namespace, which it may map later; the given path.
     */
    Path locate(Path named) {
        if (isMapped(named)) {
            return named;
        }
        String absolute = named.toAbsolutePath().normalize().toString();
        Optional<Path> found = only(file -> file.name().equals(absolute));
        if (found.isEmpty() && isBare(named)) {
            String name = String.valueOf(named.getFileName());
            found = only(file -> hasName(file.name(), name));
        }
        if (found.isPresent()) {
            return found.get();
        }
        Path inside = Host.running().process(pid).resolve("root" + absolute);
        Optional<FileIdentity> insideIdentity = identity(inside);
        return insideIdentity.isEmpty() || insideIdentity.equals(identity(named)) ? named : inside;
    }

    /** Whether the process has mapped a file executable. */
    boolean isMapped(Path file) {
        return identity(file).map(byIdentity::containsKey).orElse(false);
    }

    /** Whether the name has no directory, or has one only because it was searched for. */
    private static boolean isBare(Path named) {
        return (named.getNameCount() == 1 && !named.isAbsolute())
                || named.equals(LibrarySearch.ofThisMachine().find(String.valueOf(named.getFileName())));
    }

    /** {@code libstdc++} finds libstdc++.so.6, too. */
    private static boolean hasName(String path, String name) {
        String last = path.substring(path.lastIndexOf('/') + 1);
        return last.equals(name) || (!name.contains(".so") && last.startsWith(name + ".so"));
    }

    private Optional<Path> only(Predicate<UsdtScan.File> wanted) {
        List<UsdtScan.File> found = mapped.stream().filter(wanted).toList();
        return found.size() == 1 ? Optional.of(found.getFirst().path()) : Optional.empty();
    }

    static Optional<FileIdentity> identity(Path file) {
        try {
            return Files.isRegularFile(file) ? Optional.of(FileIdentity.of(file)) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
