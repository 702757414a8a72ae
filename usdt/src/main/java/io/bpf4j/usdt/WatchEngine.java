package io.bpf4j.usdt;

import io.bpf4j.process.DynamicLoaders;
import io.bpf4j.process.MappedFile;
import io.bpf4j.process.ProcessFiles;
import io.bpf4j.process.ProcessTree;
import io.bpf4j.process.Reasons;
import io.bpf4j.process.Tasks;
import io.bpf4j.process.WatchedProcess;
import io.bpf4j.process.hold.ProcessStop;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The work of a {@link UsdtWatch}: it handles the stops of held processes, polls the others, and visits both in turns.
 * A {@link Visit} searches a process for new code and calls the listener.
 *
 * <p><i>Confined</i>: first to the thread that starts the watch, then to the thread of the watch. {@link #isAlive},
 * {@link #gaps} and {@link #stop} may be called by any thread.
 *
 * <p>Tested by {@code UsdtWatchTest} and {@code UsdtWatchTurnsTest}.
 */
final class WatchEngine {
    private static final long SHORT_INTERVAL_NANOS = 5_000_000;
    private static final long LONG_INTERVAL_NANOS = 20_000_000;

    /**
     * The time after new code during which the short interval applies: a process loads most libraries when it starts.
     */
    private static final long RECENT_NANOS = 3_000_000_000L;

    /** The time after which another process gets its turn. A step that takes longer is not interrupted. */
    private static final long TURN_NANOS = 1_000_000;

    /**
     * The longest time that the caller waits for the first searches if events may be missing anyway: processes that are
     * not held can create others forever. The remaining processes are searched while the watch runs.
     */
    private static final long MAX_FIRST_LOOKS_NANOS = 1_000_000_000;

    /** After a search, a process is not polled for ten times as long as the search took. */
    private static final int REST_FACTOR = 10;

    private final int pid;
    private final Host host;
    private final UsdtWatch.Listener listener;
    private final HeldProcesses held;
    private final Reasons gaps;
    private final ProcessTree tree;
    private final ScanCache cache;
    private final LoaderBreakpoints breakpoints;
    private final Visits visits = new Visits();

    /** The files with probes that each process has code of. */
    private final Map<Integer, Map<MappedFile.Key, UsdtScan.File>> withProbes = new HashMap<>();

    private long lastLook;
    private long lastChange = System.nanoTime();

    /** Whether the process has yet to call exec; it is not searched before. */
    private boolean launching;

    private volatile boolean alive = true;
    private volatile boolean closing;

    WatchEngine(UsdtWatch.Builder watch, UsdtWatch.Listener listener, HeldProcesses held, Reasons gaps) {
        this.pid = watch.pid;
        this.host = watch.host;
        this.listener = listener;
        this.held = held;
        this.gaps = gaps;
        this.tree = new ProcessTree(host, pid, watch.children);
        this.cache = new ScanCache(new ProcessFiles(host));
        this.breakpoints = new LoaderBreakpoints(host, held, gaps);
        this.launching = watch.launcher && held.isHolding();
    }

    boolean isAlive() {
        return alive;
    }

    /** As {@link UsdtWatch#gaps}. */
    List<Diagnostic> gaps() {
        List<Diagnostic> all = new ArrayList<>(gaps.toList());
        all.addAll(held.gaps());
        return all;
    }

    /** Ends {@link #run} soon, and resumes all processes. */
    void stop() {
        closing = true;
        held.close();
    }

    /**
     * Processes that exist already are not held: the second search finds files that they map during the first. A traced
     * process whose parent has ended is in no list of children.
     */
    void lookFirst() {
        if (!launching) {
            keepTraced();
            tree.processes().forEach(this::lookFirstAt);
            long began = System.nanoTime();
            while (visits.hasFirst()
                    && !closing
                    && (gaps.isEmpty() || System.nanoTime() - began <= MAX_FIRST_LOOKS_NANOS)) {
                acceptStops();
                visits.next().ifPresent(this::turn);
            }
        }
        alive = isAnyLeft();
        lastLook = System.nanoTime();
    }

    private void lookFirstAt(int process) {
        visits.addFirst(process, held.isHolding() ? 2 : 1);
    }

    /** Runs until all processes have ended, or {@link #stop}. */
    void run() throws InterruptedException {
        while (alive && !closing) {
            acceptStops();
            if (System.nanoTime() - lastLook >= interval()) {
                lookAtAll();
            }
            if (visits.isEmpty()) {
                long rest = lastLook + interval() - System.nanoTime();
                held.poll(Math.max(0, rest)).ifPresent(this::accept);
            } else {
                visits.next().ifPresent(this::turn);
            }
            alive = isAnyLeft();
        }
    }

    /** Called after {@link #run}, whether it returned or failed. */
    void end() {
        alive = false;
        tree.processes().forEach(tree::remove);
        held.close();
    }

    private long interval() {
        return System.nanoTime() - lastChange < RECENT_NANOS ? SHORT_INTERVAL_NANOS : LONG_INTERVAL_NANOS;
    }

    /** A process may have ended before its child has first run: then the tree is empty for a moment. */
    private boolean isAnyLeft() {
        return !tree.isEmpty() || held.mayReport();
    }

    private void acceptStops() {
        for (Optional<ProcessStop> stop = held.poll(); stop.isPresent(); stop = held.poll()) {
            accept(stop.get());
        }
    }

    /**
     * Queues a stopped process for its visit. An end is reported at once, so that the listener gets the ends of several
     * processes in the order of the kernel, and before the kernel reuses the pid.
     */
    private void accept(ProcessStop stop) {
        int stopped = stop.pid();
        switch (stop.kind()) {
            case ENDED -> {
                ended(stopped);
                return;
            }
            case EXEC -> drop(stopped); // the old program's mappings are gone
            case BORN, BREAKPOINT -> {}
        }
        boolean _ = tree.add(stopped);
        visits.add(stop);
    }

    /** Finds code that the tracer didn't stop at, or all code if no tracer exists. */
    private void lookAtAll() {
        lastLook = System.nanoTime();
        if (held.isHolding() && !held.mayReport()) {
            held.clear(); // the tracer has failed and reports nothing more: no end, and no exec
            launching = false;
        }
        if (launching) {
            return;
        }
        keepTraced();
        for (int process : tree.processes()) {
            if (tree.find(process).stream().anyMatch(WatchedProcess::isDue)) {
                visits.add(process);
            } else if (!held.contains(process) && !new Tasks(host).isRunning(process)) {
                gone(process);
            }
        }
    }

    /** Performs steps of a visit until the turn of the process is over. */
    private void turn(Visit visit) {
        long began = System.nanoTime();
        boolean more = true;
        while (more && System.nanoTime() - began < TURN_NANOS) {
            more = step(visit) && visits.isCurrent(visit);
        }
        if (!visits.isCurrent(visit)) {
            return; // the process has ended
        }
        visit.nanos += System.nanoTime() - began;
        if (more) {
            visits.again(visit);
            return;
        }
        held.resume(visit.served);
        tree.find(visit.pid).ifPresent(known -> known.postpone(REST_FACTOR * visit.nanos));
        visits.end(visit);
    }

    /** Performs one step of bounded cost; returns whether more steps follow. */
    private boolean step(Visit visit) {
        switch (visit.stage) {
            case BEGIN -> begin(visit);
            case SEARCH ->
                tree.find(visit.pid).flatMap(WatchedProcess::step).ifPresent(found -> searched(visit, found));
            case READ -> {
                MappedFile file = visit.unread.poll();
                if (file == null) {
                    notifyListener(visit);
                    return false;
                }
                UsdtScan.File scanned = read(visit.pid, file);
                visit.read.add(scanned);
                if (!scanned.probes().isEmpty()) {
                    withProbes.computeIfAbsent(visit.pid, _ -> new HashMap<>()).put(file.key(), scanned);
                }
            }
        }
        return true;
    }

    private void begin(Visit visit) {
        visit.begin();
        int process = visit.pid;
        boolean newProgram = visits.isFirst(process);
        for (ProcessStop stop : visit.served) {
            if (stop.kind() == ProcessStop.Kind.EXEC) {
                executed(stop);
            }
            newProgram |= stop.kind() != ProcessStop.Kind.BREAKPOINT;
        }
        if (visit.served.isEmpty()) {
            boolean _ = held.keepIfTraced(process);
            findChildren(process);
        }
        visit.loader = newProgram ? breakpoints.startOf(process) : Optional.empty();
        OptionalLong address =
                visit.loader.stream().mapToLong(DynamicLoaders.Start::inLoader).findFirst();
        tree.find(process).ifPresent(known -> known.begin(address));
    }

    private void executed(ProcessStop stop) {
        int process = stop.pid();
        if (process == pid) {
            launching = false;
        }
        if (stop.isRenumbered()) {
            listener.ended(process);
        } else {
            listener.exec(process);
        }
        tree.find(process).ifPresent(WatchedProcess::renew);
        withProbes.remove(process);
    }

    /** Called before the listener is, which takes time: a child may end meanwhile. */
    private void findChildren(int process) {
        for (int child : tree.addChildren(process)) {
            // The tracer stops a new child before it runs, so one search finds all of its code.
            if (held.keepIfTraced(child) || !visits.hasFirst()) {
                visits.add(child);
            } else {
                lookFirstAt(child);
            }
        }
    }

    private void searched(Visit visit, WatchedProcess.Found found) {
        if (!found.running()) {
            gone(visit.pid);
        }
        visit.loader.ifPresent(
                start -> found.atAddress().ifPresent(loader -> breakpoints.set(visit.pid, start, loader)));
        visit.searched(found.appeared());
        Map<MappedFile.Key, UsdtScan.File> ofProcess = withProbes.getOrDefault(visit.pid, Map.of());
        if (!ofProcess.isEmpty()) {
            found.unmapped().stream()
                    .flatMap(file -> Optional.ofNullable(ofProcess.remove(file.key())).stream())
                    .forEach(visit.unmapped::add);
        }
        if (!found.problem().isEmpty()) {
            Path folder = host.process(visit.pid);
            Diagnostic problem = new Diagnostic(Kind.LEFT_OUT, "process " + visit.pid, found.problem());
            visit.read.add(
                    new UsdtScan.File(folder, folder.toString(), List.of(), List.of(visit.pid), List.of(problem)));
            gaps.add(new Diagnostic(Kind.NOT_ATTACHED, problem.subject(), problem.message()));
        }
    }

    /** A file that can't be read may have probes: unless the process has ended, all their events may be missing. */
    private UsdtScan.File read(int process, MappedFile file) {
        try {
            return cache.scan(file);
        } catch (IOException e) {
            UsdtScan.File unread = FileScanner.unread(file, e).withPids(List.of(process));
            if (new Tasks(host).isRunning(process)) {
                Diagnostic why = unread.problems().getFirst();
                gaps.add(new Diagnostic(
                        Kind.NOT_ATTACHED,
                        why.subject(),
                        "a file that process " + process + " maps could not be read for probes: " + why.message()));
            }
            return unread;
        }
    }

    private void notifyListener(Visit visit) {
        if (!visit.unmapped.isEmpty()) {
            listener.unmapped(visit.pid, List.copyOf(visit.unmapped)); // first: another file may be at their addresses
        }
        if (!visit.read.isEmpty()) {
            lastChange = System.nanoTime();
            listener.appeared(visit.pid, UsdtScan.of(host, visit.pid, visit.read));
        }
    }

    /** A search did not find the process. The tracer may still trace it. */
    private void gone(int process) {
        acceptStops();
        keepTraced();
        if (!held.contains(process)) {
            ended(process);
        }
    }

    private void keepTraced() {
        held.keepTraced().forEach(tree::add);
    }

    private void ended(int process) {
        boolean known = tree.find(process).isPresent();
        drop(process);
        visits.forgetFirst(process);
        tree.remove(process);
        withProbes.remove(process);
        if (known) {
            listener.ended(process);
        }
    }

    /** Drops the visit of a process and resumes its stopped threads, if they still exist. */
    private void drop(int process) {
        visits.drop(process).ifPresent(visit -> {
            held.resume(visit.served);
            held.resume(visit.waiting);
        });
    }
}
