package io.bpf4j.usdt.internal.process;

import io.bpf4j.loader.host.Host;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The files that the processes of a machine have mapped executable, each once, even if several processes have mapped
 * it.
 *
 * <p>Processes start and end during the scan: a process that has ended has no files. Each file is scanned together with
 * its process; only the result is kept.
 */
public final class AllProcesses {
    private final Host host;
    private final ProcessFiles files;

    public AllProcesses(Host host) {
        this.host = host;
        this.files = new ProcessFiles(host);
    }

    /**
     * The result for a file, and the processes that have mapped it.
     *
     * @param pids in ascending order, at least one
     */
    public record Shared<T>(T file, List<Integer> pids) {}

    /**
     * The result.
     *
     * @param leftOut a line for the processes whose mappings this process may not read, and one for each process that
     *     was left out for another reason
     */
    public record Found<T>(List<Shared<T>> files, List<String> leftOut) {}

    /** Scans one file. */
    public interface Scanner<T> {
        /**
         * Scans a file.
         *
         * @throws IOException if the file can't be opened through this process; then the next process that has mapped
         *     it is tried
         */
        T scan(MappedFile file) throws IOException;

        /** The result for a file that can't be opened through any process. */
        T unopened(MappedFile file, IOException why);
    }

    private static final class Holder<T> {
        final List<Integer> pids = new ArrayList<>();

        @Nullable
        T found;

        boolean opened;
    }

    /**
     * Scans all processes.
     *
     * @throws IOException if the list of processes can't be read
     */
    public <T> Found<T> look(Scanner<T> scanner) throws IOException {
        Map<MappedFile.Key, Holder<T>> holders = new LinkedHashMap<>();
        List<String> leftOut = new ArrayList<>();
        int unreadable = 0;
        for (int pid : pids()) {
            List<MappedFile> ofThis;
            try {
                ofThis = files.executableFiles(pid);
            } catch (TooMuchException e) {
                leftOut.add(String.valueOf(e.getMessage()));
                continue;
            } catch (IOException e) {
                if (Files.exists(host.process(pid))) {
                    unreadable++;
                }
                continue;
            }
            for (MappedFile file : ofThis) {
                Holder<T> holder = holders.computeIfAbsent(file.key(), _ -> new Holder<>());
                holder.pids.add(pid);
                if (!holder.opened) {
                    scan(scanner, file, holder);
                }
            }
        }
        List<Shared<T>> found = new ArrayList<>();
        holders.values()
                .forEach(holder ->
                        found.add(new Shared<>(Objects.requireNonNull(holder.found), List.copyOf(holder.pids))));
        if (unreadable > 0) {
            leftOut.addFirst(unreadable + (unreadable == 1 ? " process" : " processes")
                    + " left out: no permission to look into them");
        }
        return new Found<>(found, leftOut);
    }

    private static <T> void scan(Scanner<T> scanner, MappedFile file, Holder<T> holder) {
        try {
            holder.found = scanner.scan(file);
            holder.opened = true;
        } catch (IOException e) {
            holder.found = scanner.unopened(file, e);
        }
    }

    private Set<Integer> pids() throws IOException {
        Set<Integer> pids = new TreeSet<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(host.proc(), "[0-9]*")) {
            for (Path process : processes) {
                pids.add(Integer.parseInt(String.valueOf(process.getFileName())));
            }
        }
        return pids;
    }
}
