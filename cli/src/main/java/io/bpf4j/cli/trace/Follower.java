package io.bpf4j.cli.trace;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.error.BpfException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.link.Link;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.usdt.AttachStrategy;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.UsdtWatch;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Attaches to the probes and functions of processes when their code appears. Detaches from processes that have ended, which frees
 * their links and specs. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code CliFollowTest} and {@code CliFirstEventsTest}.
 */
public final class Follower implements UsdtWatch.Listener {
    private final ProbeSession session;
    private final Function<UsdtScan, List<UsdtProbe>> wanted;
    private final Map<FileIdentity, List<FunctionProbe>> functions;
    private final Consumer<UsdtLink> onAttach;
    private final Consumer<FunctionProbe> leftOut;
    private final Consumer<String> problems;
    private final Map<Integer, Attached> attached = new HashMap<>();

    /**
     * The attachments of a process. A library remains attached when it is unloaded and loaded again.
     *
     * @param files whose USDT probes are attached
     * @param filesOfFunctions whose functions are attached
     */
    private record Attached(List<Link> links, Set<FileIdentity> files, Set<FileIdentity> filesOfFunctions) {}

    /**
     * Follows the events of a {@link UsdtWatch}.
     *
     * @param wanted the probes of a scan that are to be traced
     * @param functions the functions that are to be traced, by their files
     * @param onAttach receives each new link to USDT probes
     * @param leftOut receives the functions that the kernel can't probe, again for each process
     * @param problems receives the reason why new probes could not be attached; attached probes continue
     */
    public Follower(
            ProbeSession session,
            Function<UsdtScan, List<UsdtProbe>> wanted,
            Map<FileIdentity, List<FunctionProbe>> functions,
            Consumer<UsdtLink> onAttach,
            Consumer<FunctionProbe> leftOut,
            Consumer<String> problems) {
        this.session = session;
        this.wanted = wanted;
        this.functions = functions;
        this.onAttach = onAttach;
        this.leftOut = leftOut;
        this.problems = problems;
    }

    /** Attaches to probes of a process that may not have mapped their file yet. */
    public synchronized void attach(int pid, List<UsdtProbe> probes) {
        UsdtLink link = session.attach(probes, OptionalInt.of(pid));
        Attached process = of(pid);
        process.links().add(link);
        probes.forEach(probe -> process.files().add(probe.binary().identity()));
        onAttach.accept(link);
    }

    /** Attaches to the functions of files that the process may not have mapped yet. */
    public synchronized void attachFunctions(int pid, Set<FileIdentity> files) {
        List<FunctionProbe> probes = new ArrayList<>();
        functions.forEach((file, ofFile) -> probes.addAll(files.contains(file) ? ofFile : List.of()));
        Link link = session.attachFunctions(probes, OptionalInt.of(pid), leftOut);
        of(pid).links().add(link);
        of(pid).filesOfFunctions().addAll(files);
    }

    private Attached of(int pid) {
        return attached.computeIfAbsent(pid, _ -> new Attached(new ArrayList<>(), new HashSet<>(), new HashSet<>()));
    }

    @Override
    public synchronized void appeared(int pid, UsdtScan scan) {
        List<UsdtProbe> probes = wanted.apply(scan).stream()
                .filter(probe -> !isAttached(pid, probe))
                .toList();
        Set<FileIdentity> files = filesOfFunctions(scan);
        files.removeAll(attached.containsKey(pid) ? of(pid).filesOfFunctions() : Set.of());
        try {
            if (!probes.isEmpty()) {
                attach(pid, probes);
            }
            if (!files.isEmpty()) {
                attachFunctions(pid, files);
            }
        } catch (BpfException e) {
            // A process that ends during the scan is not a problem.
            if (Files.isDirectory(Host.running().process(pid))) {
                problems.accept(e.getMessage());
            }
        }
    }

    /** The files of a scan that have functions to trace. */
    private Set<FileIdentity> filesOfFunctions(UsdtScan scan) {
        Set<FileIdentity> found = new LinkedHashSet<>();
        if (!functions.isEmpty()) {
            for (UsdtScan.File file : scan.files()) {
                try {
                    found.add(FileIdentity.of(file.path()));
                } catch (IOException e) {
                    // The process has ended.
                }
            }
            found.retainAll(functions.keySet());
        }
        return found;
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
        if (process != null && process.links().stream().anyMatch(Follower::dependsOnAddresses)) {
            attached.remove(pid);
            // Not in the background: the old link would report the events of the new link a second time.
            process.links().forEach(session::close);
        }
    }

    private static boolean dependsOnAddresses(Link link) {
        return link instanceof UsdtLink probes && probes.strategy() == AttachStrategy.IP_MAP;
    }

    private boolean isAttached(int pid, UsdtProbe probe) {
        Attached process = attached.get(pid);
        return process != null && process.files().contains(probe.binary().identity());
    }
}
