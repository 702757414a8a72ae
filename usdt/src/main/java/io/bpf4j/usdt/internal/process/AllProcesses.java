package io.bpf4j.usdt.internal.process;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The files that the processes of a machine have mapped executable, each once, however many have it.
 *
 * <p>Processes come and go while they are looked at: one that is gone has no files.
 */
public final class AllProcesses {
    private final Path proc;
    private final ProcessFiles files;

    /** Reads below this directory: {@code /proc}, or a fixture. */
    public AllProcesses(Path proc) {
        this.proc = proc;
        this.files = new ProcessFiles(proc);
    }

    /**
     * A file and who has it.
     *
     * @param pids in ascending order, at least one
     */
    public record Shared(MappedFile file, List<Integer> pids) {}

    /**
     * What was found.
     *
     * @param unreadable processes whose mappings this one may not read
     */
    public record Found(List<Shared> files, int unreadable) {}

    private record Holder(Mapping mapping, List<Integer> pids) {}

    /**
     * Looks through all processes.
     *
     * @throws IOException if the list of processes can't be read
     */
    public Found look() throws IOException {
        Map<String, Holder> holders = new LinkedHashMap<>();
        int unreadable = 0;
        for (int pid : pids()) {
            List<Mapping> mappings;
            try {
                mappings = files.mappings(pid);
            } catch (IOException e) {
                if (Files.exists(proc.resolve(Integer.toString(pid)))) {
                    unreadable++;
                }
                continue;
            }
            Set<String> ofThis = new HashSet<>();
            for (Mapping mapping : mappings) {
                String key = mapping.device() + " " + mapping.inode();
                if (mapping.executable() && mapping.isFile() && ofThis.add(key)) {
                    holders.computeIfAbsent(key, _ -> new Holder(mapping, new ArrayList<>()))
                            .pids()
                            .add(pid);
                }
            }
        }
        return new Found(holders.values().stream().map(this::locate).toList(), unreadable);
    }

    /** The first who has it may be gone by now; then the next is asked. */
    private Shared locate(Holder holder) {
        MappedFile found = files.locate(holder.pids().getFirst(), holder.mapping());
        for (int i = 1; found.path() == null && i < holder.pids().size(); i++) {
            found = locate(holder.pids().get(i), holder.mapping()).orElse(found);
        }
        return new Shared(found, List.copyOf(holder.pids()));
    }

    /** The same file in another process. */
    private Optional<MappedFile> locate(int pid, Mapping wanted) {
        try {
            return files.mappings(pid).stream()
                    .filter(m -> m.executable()
                            && m.inode() == wanted.inode()
                            && m.device().equals(wanted.device()))
                    .findFirst()
                    .map(m -> files.locate(pid, m));
        } catch (IOException e) {
            return Optional.empty(); // Gone, too.
        }
    }

    private Set<Integer> pids() throws IOException {
        Set<Integer> pids = new TreeSet<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(proc, "[0-9]*")) {
            for (Path process : processes) {
                pids.add(Integer.parseInt(String.valueOf(process.getFileName())));
            }
        }
        return pids;
    }
}
