package io.bpf4j.cli.trace;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.error.BpfException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.usdt.AttachStrategy;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.UsdtWatch;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Attaches to the probes of processes when their code appears. Detaches from processes that have ended, which frees
 * their links and specs. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code CliFollowTest} and {@code CliFirstEventsTest}.
 */
public final class Follower implements UsdtWatch.Listener {
    private final ProbeSession session;
    private final Function<UsdtScan, List<UsdtProbe>> wanted;
    private final Consumer<UsdtLink> onAttach;
    private final Consumer<String> problems;
    private final Map<Integer, Attached> attached = new HashMap<>();

    /** The attachments of a process. A library remains attached when it is unloaded and loaded again. */
    private record Attached(List<UsdtLink> links, Set<FileIdentity> files) {}

    /**
     * Follows the events of a {@link UsdtWatch}.
     *
     * @param wanted the probes of a scan that are to be traced
     * @param onAttach receives each new link
     * @param problems receives the reason why new probes could not be attached; attached probes continue
     */
    public Follower(
            ProbeSession session,
            Function<UsdtScan, List<UsdtProbe>> wanted,
            Consumer<UsdtLink> onAttach,
            Consumer<String> problems) {
        this.session = session;
        this.wanted = wanted;
        this.onAttach = onAttach;
        this.problems = problems;
    }

    /** Attaches to probes of a process that may not have mapped their file yet. */
    public synchronized void attach(int pid, List<UsdtProbe> probes) {
        UsdtLink link = session.attach(probes, OptionalInt.of(pid));
        Attached process = attached.computeIfAbsent(pid, _ -> new Attached(new ArrayList<>(), new HashSet<>()));
        process.links().add(link);
        probes.forEach(probe -> process.files().add(probe.binary().identity()));
        onAttach.accept(link);
    }

    @Override
    public synchronized void appeared(int pid, UsdtScan scan) {
        List<UsdtProbe> probes = wanted.apply(scan).stream()
                .filter(probe -> !isAttached(pid, probe))
                .toList();
        if (probes.isEmpty()) {
            return;
        }
        try {
            attach(pid, probes);
        } catch (BpfException e) {
            // A process that ends during the scan is not a problem.
            if (Files.isDirectory(Host.running().process(pid))) {
                problems.accept(e.getMessage());
            }
        }
    }

    @Override
    public synchronized void ended(int pid) {
        Attached gone = attached.remove(pid);
        if (gone != null) {
            gone.links().forEach(session::detach);
        }
    }

    /** The addresses of the previous program are invalid now, and the same file may be mapped at others. */
    @Override
    public synchronized void exec(int pid) {
        Attached process = attached.get(pid);
        if (process != null && process.links().stream().anyMatch(link -> link.strategy() == AttachStrategy.IP_MAP)) {
            attached.remove(pid);
            // Not in the background: the old link would report the events of the new link a second time.
            process.links().forEach(session::close);
        }
    }

    private boolean isAttached(int pid, UsdtProbe probe) {
        Attached process = attached.get(pid);
        return process != null && process.files().contains(probe.binary().identity());
    }
}
