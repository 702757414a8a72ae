package io.bpf4j.usdt.internal.process;

import io.bpf4j.elf.FileName;
import io.bpf4j.loader.host.Host;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A process and optionally its descendants, and the files that each has mapped as code since the last look.
 * <b>Confined.</b>
 *
 * <p>Mappings are compared by device, inode and name. New files are not opened yet, because this takes several system
 * calls. A process stays in the tree when its parent ends and it gets another parent.
 */
public final class ProcessTree {
    private final ProcessFiles files;
    private final Host host;
    private final Map<Integer, Set<Code>> seen = new LinkedHashMap<>();
    private boolean withChildren;

    private record Code(MappedFile.Key file, FileName text) {}

    /**
     * New code of one process.
     *
     * @param files not mapped as code at the previous look, in the order of their addresses
     * @param problem the reason why the process can't be read any more; empty if it can
     */
    public record Change(int pid, List<MappedFile> files, String problem) {}

    /** A tree of one process; the first look finds all that it has mapped. */
    public ProcessTree(Host host, int pid) {
        this.files = new ProcessFiles(host);
        this.host = host;
        seen.put(pid, Set.of());
    }

    /** From the next look on, the tree includes all descendants. */
    public void includeChildren() {
        withChildren = true;
    }

    /** The processes that existed at the last look. */
    public List<Integer> processes() {
        return List.copyOf(seen.keySet());
    }

    /** Adds a child without a look; all its mappings are new. */
    public void add(int pid) {
        seen.putIfAbsent(pid, Set.of());
    }

    /** A process has called exec: all its mappings are new. */
    public void renew(int pid) {
        seen.put(pid, Set.of());
    }

    /** A process has ended. */
    public void remove(int pid) {
        seen.remove(pid);
    }

    /** The changes in one process since the last look at it. */
    public List<Change> look(int pid) {
        List<Change> changes = new ArrayList<>();
        if (!look(pid, changes)) {
            seen.remove(pid);
        }
        return changes;
    }

    /** The changes since the last look, parents before their children. */
    public List<Change> look() {
        List<Change> changes = new ArrayList<>();
        Deque<Integer> left = new ArrayDeque<>(seen.keySet());
        while (!left.isEmpty()) {
            int pid = left.removeFirst();
            if (!look(pid, changes)) {
                seen.remove(pid);
            } else if (withChildren) {
                for (int child : host.children(pid)) {
                    if (seen.putIfAbsent(child, Set.of()) == null) {
                        left.addLast(child);
                    }
                }
            }
        }
        return changes;
    }

    /** Whether the process exists. */
    private boolean look(int pid, List<Change> changes) {
        List<MappedFile> code;
        try {
            code = files.executableFiles(pid);
        } catch (TooMuchException e) {
            changes.add(new Change(pid, List.of(), String.valueOf(e.getMessage())));
            return false;
        } catch (IOException e) {
            return false;
        }
        if (code.isEmpty()) {
            // During exec a process temporarily has no mappings; a zombie never has any.
            return host.isRunning(pid);
        }
        Set<Code> before = seen.getOrDefault(pid, Set.of());
        Set<Code> now = new HashSet<>();
        List<MappedFile> appeared = new ArrayList<>();
        for (MappedFile file : code) {
            Code key = new Code(file.key(), file.mapping().text());
            if (now.add(key) && !before.contains(key)) {
                appeared.add(file);
            }
        }
        seen.put(pid, now);
        if (!appeared.isEmpty()) {
            changes.add(new Change(pid, appeared, ""));
        }
        return true;
    }
}
