package io.bpf4j.usdt;

import io.bpf4j.usdt.internal.process.ProcessTree;
import java.nio.file.Path;
import java.util.List;

/**
 * Sees code that appears in a process while it runs: a library that it loads (dlopen, also of a memfd), the program that
 * it becomes by exec, and, if asked for, the same in its children and theirs. <b>Confined.</b>
 *
 * <p>{@link #poll} looks and returns; there is no thread behind it. What comes and goes between two looks is not seen, and
 * a probe that fires between the mapping of its code and the attach after the next look is missed: the kernel tells
 * nobody of a mapping before the process runs on. A look at a process of a hundred mappings takes about 0.1 ms where
 * nothing has changed, so it can be done often.
 *
 * {@snippet lang = "java":
 * UsdtWatch watch = UsdtWatch.of(pid).withChildren();
 * while (watch.isAlive()) {
 *     for (UsdtWatch.Appeared appeared : watch.poll()) {
 *         for (UsdtScan scan : appeared.scans()) {
 *             links.add(usdt.attachAll(program, scan.matching(pattern), Options.defaults().pid(appeared.pid())));
 *         }
 *     }
 *     ring.poll(Duration.ofMillis(10), handler);
 * }
 * }
 */
public final class UsdtWatch {
    private final ProcessTree tree;
    private final ScanCache cache = new ScanCache();

    private UsdtWatch(ProcessTree tree) {
        this.tree = tree;
    }

    /**
     * Code that appeared in one process.
     *
     * @param pid the process
     * @param scans the files that it had not mapped executable at the look before; each with its probes, or none
     */
    public record Appeared(int pid, List<UsdtScan> scans) {
        public Appeared {
            scans = List.copyOf(scans);
        }
    }

    /** Watches one process. The first look finds all that it has mapped. */
    public static UsdtWatch of(int pid) {
        return of(Path.of("/proc"), pid);
    }

    static UsdtWatch of(Path proc, int pid) {
        return new UsdtWatch(new ProcessTree(proc, pid));
    }

    /** Watches its children, too, and theirs: those that are there now and those that come. */
    public UsdtWatch withChildren() {
        tree.includeChildren();
        return this;
    }

    /** What has appeared since the last look, a process each, parents first; none if nothing has. */
    public List<Appeared> poll() {
        return tree.look().stream()
                .map(change -> new Appeared(
                        change.pid(), change.files().stream().map(cache::scan).toList()))
                .toList();
    }

    /** The processes that were there at the last look, those without probes included. */
    public List<Integer> processes() {
        return tree.processes();
    }

    /** Whether any of them was still there at the last look. */
    public boolean isAlive() {
        return !tree.processes().isEmpty();
    }
}
