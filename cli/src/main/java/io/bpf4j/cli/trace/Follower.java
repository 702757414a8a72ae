package io.bpf4j.cli.trace;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.error.BpfException;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.UsdtWatch;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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
 * Attaches to the probes of a process as its code appears, and perhaps to those of its children; detaches from processes
 * that have ended, whose links and specs others may need. <i>Confined.</i>
 */
public final class Follower {
    private static final Duration CLOSE = Duration.ofMillis(5);
    private static final Duration RELAXED = Duration.ofMillis(20);

    /** A process loads its libraries when it starts; after that they are rare. */
    private static final long CLOSE_NANOS = 3_000_000_000L;

    private final Tracer tracer;
    private final UsdtWatch watch;
    private final Function<UsdtScan, List<UsdtProbe>> wanted;
    private final Map<Integer, Attached> attached = new HashMap<>();
    private final Consumer<String> problems;
    private long lastChange = System.nanoTime();

    /** What a process has: a library that was unloaded and is loaded again is attached still. */
    private record Attached(List<UsdtLink> links, Set<FileIdentity> files) {}

    /**
     * Follows what {@code watch} sees.
     *
     * @param wanted the probes of a file that are to be traced
     * @param problems is told why probes that appeared could not be attached; those that are attached go on
     */
    public Follower(
            Tracer tracer, UsdtWatch watch, Function<UsdtScan, List<UsdtProbe>> wanted, Consumer<String> problems) {
        this.tracer = tracer;
        this.watch = watch;
        this.wanted = wanted;
        this.problems = problems;
    }

    /** Attaches to probes of a process before it has mapped their file. */
    public UsdtLink attach(int pid, List<UsdtProbe> probes) {
        UsdtLink link = tracer.attach(probes, OptionalInt.of(pid));
        Attached process = attached.computeIfAbsent(pid, _ -> new Attached(new ArrayList<>(), new HashSet<>()));
        process.links().add(link);
        probes.forEach(probe -> process.files().add(probe.binary().identity()));
        return link;
    }

    /**
     * Looks for new code and attaches to its probes.
     *
     * @param onAttach is told of each link that was made
     */
    public void look(Consumer<UsdtLink> onAttach) {
        List<UsdtWatch.Appeared> appeared = watch.poll();
        Set<Integer> alive = Set.copyOf(watch.processes());
        for (UsdtWatch.Appeared code : appeared) {
            lastChange = System.nanoTime();
            List<UsdtProbe> probes = code.scans().stream()
                    .flatMap(scan -> wanted.apply(scan).stream())
                    .filter(probe -> !isAttached(code.pid(), probe))
                    .toList();
            if (!probes.isEmpty()) {
                try {
                    onAttach.accept(attach(code.pid(), probes));
                } catch (BpfException e) {
                    // A process that ends while it is looked at is no problem.
                    if (Files.isDirectory(Path.of("/proc/" + code.pid()))) {
                        problems.accept(e.getMessage());
                    }
                }
            }
        }
        attached.entrySet().removeIf(entry -> {
            boolean gone = !alive.contains(entry.getKey());
            if (gone) {
                entry.getValue().links().forEach(tracer::detach);
            }
            return gone;
        });
    }

    private boolean isAttached(int pid, UsdtProbe probe) {
        Attached process = attached.get(pid);
        return process != null && process.files().contains(probe.binary().identity());
    }

    /** How long to wait before the next look. */
    public Duration interval() {
        return System.nanoTime() - lastChange < CLOSE_NANOS ? CLOSE : RELAXED;
    }

    /** Whether a process is left. */
    public boolean isAlive() {
        return watch.isAlive();
    }
}
