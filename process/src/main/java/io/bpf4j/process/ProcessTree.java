package io.bpf4j.process;

import io.bpf4j.sys.Host;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A process and optionally its descendants. <i>Confined.</i>
 *
 * <p>A process stays in the tree when its parent ends and it gets another parent.
 */
public final class ProcessTree {
    private final ProcessFiles files;
    private final Host host;
    private final Map<Integer, WatchedProcess> processes = new LinkedHashMap<>();
    private final boolean withChildren;

    /**
     * A tree of one process.
     *
     * @param withChildren whether it includes all descendants
     */
    public ProcessTree(Host host, int pid, boolean withChildren) {
        this.files = new ProcessFiles(host);
        this.host = host;
        this.withChildren = withChildren;
        add(pid);
    }

    /** The processes of the tree; a copy. */
    public List<Integer> processes() {
        return List.copyOf(processes.keySet());
    }

    public boolean isEmpty() {
        return processes.isEmpty();
    }

    /** A process of the tree. */
    public Optional<WatchedProcess> find(int pid) {
        return Optional.ofNullable(processes.get(pid));
    }

    /** Adds a process, all of whose mappings are new. Returns whether the tree did not have it. */
    public boolean add(int pid) {
        boolean isNew = !processes.containsKey(pid);
        if (isNew) {
            processes.put(pid, new WatchedProcess(host, files, pid));
        }
        return isNew;
    }

    /** Notes that a process has ended. */
    public void remove(int pid) {
        WatchedProcess gone = processes.remove(pid);
        if (gone != null) {
            gone.stop();
        }
    }

    /**
     * Adds the children of a process, if the tree includes them, and returns those that the tree did not have. A zombie
     * has no code, and its end may be known already.
     */
    public List<Integer> addChildren(int pid) {
        List<Integer> found = new ArrayList<>();
        if (withChildren) {
            for (int child : new Tasks(host).childrenOf(pid)) {
                if (!processes.containsKey(child) && new Tasks(host).isRunning(child)) {
                    boolean _ = add(child);
                    found.add(child);
                }
            }
        }
        return found;
    }
}
