package io.bpf4j.process;

import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The known state of one process: the files that it had mapped as code at the last search, and the search in progress.
 * <i>Confined.</i>
 *
 * <p>Mappings are compared by device, inode and name. New files are not opened yet, because this takes several system
 * calls.
 *
 * <p>Tested by {@code ProcessTreeTest}.
 */
public final class WatchedProcess {
    private final Host host;
    private final ProcessFiles files;
    private final int pid;
    private Map<Code, MappedFile> known = Map.of();
    private @Nullable CodeSearch search;
    private boolean leftOut;
    private long due = System.nanoTime();

    private record Code(MappedFile.Key file, FileName text) {}

    /**
     * The result of a search.
     *
     * @param appeared the files that were not mapped as code at the previous search, in the order of their addresses
     * @param unmapped the files of the previous search that are not mapped as code now
     * @param atAddress the file at the address that was passed to {@link #begin}, if any
     * @param problem the reason why the process is not searched until it calls exec; empty if it is searched
     * @param running whether the process still exists
     */
    public record Found(
            List<MappedFile> appeared,
            List<MappedFile> unmapped,
            Optional<MappedFile> atAddress,
            String problem,
            boolean running) {
        private static Found nothing(boolean running) {
            return new Found(List.of(), List.of(), Optional.empty(), "", running);
        }

        private static Found leftOut(String problem) {
            return new Found(List.of(), List.of(), Optional.empty(), problem, true);
        }
    }

    WatchedProcess(Host host, ProcessFiles files, int pid) {
        this.host = host;
        this.files = files;
        this.pid = pid;
    }

    public int pid() {
        return pid;
    }

    /** Notes that the process has called exec: all its mappings are new. */
    public void renew() {
        stop();
        known = Map.of();
        leftOut = false;
    }

    /**
     * Begins a search; a search in progress is dropped.
     *
     * @param address an address whose file is looked up, too
     */
    public void begin(OptionalLong address) {
        stop();
        search = files.search(pid, address);
    }

    /**
     * Continues the search by one bounded step.
     *
     * @return the result if this was the last step
     */
    public Optional<Found> step() {
        CodeSearch current = search;
        if (leftOut || current == null) {
            stop();
            return Optional.of(Found.nothing(new Tasks(host).isRunning(pid)));
        }
        try {
            if (current.step()) {
                return Optional.empty();
            }
            stop();
            return Optional.of(found(current));
        } catch (TooMuchException e) {
            stop();
            leftOut = true;
            return Optional.of(Found.leftOut(String.valueOf(e.getMessage())));
        } catch (IOException e) {
            stop();
            if (!new Tasks(host).isRunning(pid)) {
                return Optional.of(Found.nothing(false));
            }
            leftOut = true;
            return Optional.of(Found.leftOut("process " + pid + " is left out: " + e.getMessage()));
        }
    }

    private Found found(CodeSearch ended) {
        List<MappedFile> code = ended.files();
        if (code.isEmpty()) {
            // During exec a process temporarily has no mappings; a zombie never has any.
            return new Found(List.of(), List.of(), ended.atAddress(), "", new Tasks(host).isRunning(pid));
        }
        Map<Code, MappedFile> now = new LinkedHashMap<>();
        List<MappedFile> appeared = new ArrayList<>();
        for (MappedFile file : code) {
            Code key = new Code(file.key(), file.mapping().text());
            if (now.putIfAbsent(key, file) == null && !known.containsKey(key)) {
                appeared.add(file);
            }
        }
        // One whose name has changed is mapped.
        Set<MappedFile.Key> mapped = now.keySet().stream().map(Code::file).collect(Collectors.toSet());
        List<MappedFile> unmapped = known.values().stream()
                .filter(file -> !mapped.contains(file.key()))
                .toList();
        known = now;
        return new Found(appeared, unmapped, ended.atAddress(), "", true);
    }

    /** Whether the next periodic search is due. */
    public boolean isDue() {
        return System.nanoTime() - due >= 0;
    }

    /** Sets the time until the next periodic search. */
    public void postpone(long nanos) {
        due = System.nanoTime() + nanos;
    }

    /** Ends the search in progress. */
    public void stop() {
        CodeSearch current = search;
        search = null;
        if (current != null) {
            current.close();
        }
    }
}
