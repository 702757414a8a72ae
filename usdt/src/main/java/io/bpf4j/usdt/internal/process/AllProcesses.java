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
 * The files that the processes of a machine have mapped executable, each once, however many have it.
 *
 * <p>Processes come and go while they are looked at: one that is gone has no files. Each file is looked at while the
 * process that has it is, and then only what was found in it is kept.
 */
public final class AllProcesses {
    private final Host host;
    private final ProcessFiles files;

    public AllProcesses(Host host) {
        this.host = host;
        this.files = new ProcessFiles(host);
    }

    /**
     * What was found in a file, and who has it.
     *
     * @param pids in ascending order, at least one
     */
    public record Shared<T>(T file, List<Integer> pids) {}

    /**
     * What was found.
     *
     * @param unreadable processes whose mappings this one may not read
     * @param problems a line for each process that was left out for another reason
     */
    public record Found<T>(List<Shared<T>> files, int unreadable, List<String> problems) {}

    /** Looks at one file. */
    public interface Scanner<T> {
        /**
         * What is in the file.
         *
         * @throws IOException if there is no way to it from this process; the next one that has it is asked
         */
        T scan(MappedFile file) throws IOException;

        /** What to say of a file that there is no way to. */
        T unopened(MappedFile file, IOException why);
    }

    private static final class Holder<T> {
        final List<Integer> pids = new ArrayList<>();

        @Nullable
        T found;

        boolean opened;
    }

    /**
     * Looks through all processes.
     *
     * @throws IOException if the list of processes can't be read
     */
    public <T> Found<T> look(Scanner<T> scanner) throws IOException {
        Map<MappedFile.Key, Holder<T>> holders = new LinkedHashMap<>();
        List<String> problems = new ArrayList<>();
        int unreadable = 0;
        for (int pid : pids()) {
            List<MappedFile> ofThis;
            try {
                ofThis = files.executableFiles(pid);
            } catch (TooMuchException e) {
                problems.add(String.valueOf(e.getMessage()));
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
        return new Found<>(found, unreadable, problems);
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
