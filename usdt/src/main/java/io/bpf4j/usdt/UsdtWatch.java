package io.bpf4j.usdt;

import io.bpf4j.process.DynamicLoaders;
import io.bpf4j.process.MappedFile;
import io.bpf4j.process.ProcessFiles;
import io.bpf4j.process.ProcessTree;
import io.bpf4j.process.Reasons;
import io.bpf4j.process.Tasks;
import io.bpf4j.process.Turns;
import io.bpf4j.process.WatchedProcess;
import io.bpf4j.process.hold.ProcessStop;
import io.bpf4j.process.hold.ProcessTracer;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.thread.Threads;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Detects code that appears in a running process: a library that the process loads (dlopen, also of a memfd), a new
 * program by exec, and optionally the same in all its descendants, from fork on. <i>Thread-safe.</i>
 *
 * <p>The process is held while the {@link Listener} attaches: before the first instruction after fork and exec, and
 * before the constructors of a library. So no first event is missed. {@link ProcessTracer} documents how a process is
 * held, what holding costs the process and what it needs. If a process can't be held, it is polled every few
 * milliseconds instead, a probe may fire before it is attached, and {@link #gaps} says so. Code that a process maps
 * without its dynamic loader is also found by polling. A process with thousands of mappings takes long to search, so it
 * is polled less often, and other processes do not wait for it.
 *
 * {@snippet lang = "java":
 * Map<Integer, LinkGroup> links = new HashMap<>();
 * UsdtWatch.Listener attach = new UsdtWatch.Listener() {
 *     public void appeared(int pid, UsdtScan scan) {
 *         UsdtScan wanted = scan.matching("python:*");
 *         if (!wanted.probes().isEmpty()) {
 *             links.computeIfAbsent(pid, p -> LinkGroup.inParallel("process " + p)).add(usdt.attach(program, wanted));
 *         }
 *     }
 *
 *     public void exec(int pid) {
 *         ended(pid); // the files of the new program appear next, also those that the old one had
 *     }
 *
 *     public void ended(int pid) {
 *         LinkGroup old = links.remove(pid);
 *         if (old != null) {
 *             old.close();
 *         }
 *     }
 * };
 * try (UsdtWatch watch = UsdtWatch.of(pid).withChildren().start(attach)) {
 *     while (watch.isAlive()) {
 *         ring.poll(Duration.ofMillis(100), handler);
 *     }
 * }
 * }
 *
 * <p>To watch a command from its first instruction, its process must wait before it executes the program: start the
 * watch with {@link Builder#fromExec()}, then let the process execute. The module {@code io.bpf4j.trace} does all of it
 * for a question whose target is a command.
 *
 * <p>Tested by {@code UsdtWatchTest}, {@code UsdtWatchTurnsTest}, {@code CliFollowTest} and {@code CliFirstEventsTest}.
 */
public final class UsdtWatch implements AutoCloseable {
    private static final long SHORT_INTERVAL_NANOS = 5_000_000;
    private static final long LONG_INTERVAL_NANOS = 20_000_000;

    /**
     * The time after new code during which the short interval applies: a process loads most libraries when it starts.
     */
    private static final long RECENT_NANOS = 3_000_000_000L;

    /** The time after which another process gets its turn. A step that takes longer is not cut. */
    private static final long TURN_NANOS = 1_000_000;

    /**
     * The longest time that the caller waits for the first looks if events may be missing anyway: processes that are
     * not held can create others for ever. The remaining processes are searched while the watch runs.
     */
    private static final long MAX_FIRST_LOOKS_NANOS = 1_000_000_000;

    /** After a look, a process is not polled for ten times as long as the look took. */
    private static final int REST_FACTOR = 10;

    private final int pid;
    private final Listener listener;
    private final ProcessTree tree;
    private final ScanCache cache;
    private final DynamicLoaders loaders;
    private final Host host;
    private final @Nullable ProcessTracer tracer;
    private final BlockingQueue<ProcessStop> stops;
    /**
     * Processes whose end the tracer reports. Polling may find the end earlier, but finds the ends of several processes
     * in any order: a process whose parent waits for it would seem to outlive the parent.
     */
    private final Set<Integer> held = new HashSet<>();

    /** The unfinished visits by process, and the order of their steps. */
    private final Map<Integer, Visit> visits = new HashMap<>();

    private final Turns<Integer> turns = new Turns<>();

    /** The number of looks that each process that existed before the watch still needs until the watch has started. */
    private final Map<Integer, Integer> firstLooks = new HashMap<>();

    private final Reasons gaps = new Reasons();
    private final Thread thread;
    private long lastLook;
    private long lastChange;
    private boolean launching;
    private volatile boolean alive = true;
    private volatile boolean closing;
    private volatile @Nullable Throwable failure;

    /**
     * Receives events, one at a time: the first ones in the thread that starts the watch, later ones in a thread of the
     * watch.
     */
    @FunctionalInterface
    public interface Listener {
        /**
         * Code has appeared in a process. The process is held until this method returns.
         *
         * <p>Between vfork and exec a child has the memory of its parent. On most kernels the links of both then fire
         * in both, so a program that is attached to both compares {@code usdt_process()} of {@code usdt.h} with the
         * process that it runs in.
         *
         * @param pid the process
         * @param scan the files that the process had not mapped executable before; each with its probes, if any
         */
        void appeared(int pid, UsdtScan scan);

        /**
         * A process has ended, or called exec in another thread than its first, so that links for its pid no longer
         * reach it. After such an exec {@link #appeared} is called next, and links are to be closed here, not in the
         * background: those that were attached while the kernel executed exec reach the process. Called once for each
         * end.
         */
        default void ended(int pid) {}

        /**
         * A process has called exec; {@link #appeared} is called next for the files of the new program. Among them may
         * be files that have appeared in this process already: the old program had them, too, or the watch has seen
         * them while the kernel executed exec. To attach once only, close the links of the process here, not in the
         * background; or keep them and leave out the files that have links. Links for its pid remain valid for a file
         * that it maps again, except those of {@link AttachStrategy#IP_MAP}, which depend on addresses.
         */
        default void exec(int pid) {}
    }

    /** The options of a watch. <i>Immutable.</i> */
    public static final class Builder {
        private final Host host;
        private final int pid;
        private final boolean children;
        private final boolean launcher;
        private final boolean holding;

        private Builder(Host host, int pid, boolean children, boolean launcher, boolean holding) {
            this.host = host;
            this.pid = pid;
            this.children = children;
            this.launcher = launcher;
            this.holding = holding;
        }

        /** Watches all descendants, too: those that exist now and later ones. */
        public Builder withChildren() {
            return new Builder(host, pid, true, launcher, holding);
        }

        /** The process will call exec: only the program after its exec is watched. */
        public Builder fromExec() {
            return new Builder(host, pid, children, true, holding);
        }

        /** Does not hold processes: they are only polled every few milliseconds, and first events may be missed. */
        public Builder withoutHolding() {
            return new Builder(host, pid, children, launcher, false);
        }

        /**
         * Starts the watch. Before this method returns, it has called the listener for all files that are mapped now.
         * If the process does not exist, the listener is not called, and {@link UsdtWatch#isAlive} is false.
         *
         * @return the caller's to close
         * @throws RuntimeException the exception of the listener; an {@link Error} likewise. The watch has then ended
         */
        public UsdtWatch start(Listener listener) {
            return UsdtWatch.start(this, listener);
        }
    }

    /** Returns a builder of a watch of one process on the running machine. */
    public static Builder of(int pid) {
        return of(Host.running(), pid);
    }

    /** Returns a builder of a watch of one process on a machine. */
    public static Builder of(Host host, int pid) {
        return new Builder(host, pid, false, false, true);
    }

    private static UsdtWatch start(Builder builder, Listener listener) {
        BlockingQueue<ProcessStop> stops = new LinkedBlockingQueue<>();
        @Nullable ProcessTracer tracer = null;
        String gap = "processes are polled every few milliseconds instead of being held";
        if (builder.holding) {
            try {
                tracer = ProcessTracer.start(builder.host, builder.pid, builder.children, stops::add);
            } catch (SyscallException e) {
                gap += ": " + e.getMessage();
            }
        }
        try {
            UsdtWatch watch = new UsdtWatch(builder, listener, tracer, stops);
            if (tracer == null) {
                watch.addGap(gap);
            }
            watch.lookFirst();
            watch.thread.start();
            return watch;
        } catch (RuntimeException | Error e) { // a listener may throw anything, and a thread may not start
            try (ProcessTracer _ = tracer) {
                throw e;
            }
        }
    }

    private UsdtWatch(
            Builder builder, Listener listener, @Nullable ProcessTracer tracer, BlockingQueue<ProcessStop> stops) {
        this.pid = builder.pid;
        this.listener = listener;
        this.tracer = tracer;
        this.stops = stops;
        this.host = builder.host;
        this.tree = new ProcessTree(host, pid, builder.children);
        this.cache = new ScanCache(new ProcessFiles(host));
        this.loaders = new DynamicLoaders(host);
        this.launching = builder.launcher && tracer != null;
        this.lastChange = System.nanoTime();
        this.thread = Thread.ofPlatform().name("bpf4j-usdt-watch").daemon().unstarted(this::run);
    }

    /** Whether at least one watched process is still running. */
    public boolean isAlive() {
        return alive;
    }

    /**
     * The reasons why events from before their probe was attached may be missing ({@link Diagnostic.Kind#LATE}). Empty
     * if no event is missing. If there are many reasons, only the first ones are listed.
     */
    public List<Diagnostic> gaps() {
        List<Diagnostic> all = new ArrayList<>(gaps.toList());
        if (tracer != null) {
            all.addAll(tracer.gaps());
        }
        return all;
    }

    /**
     * Ends the watch and resumes the processes. Waits for a running listener, unless the listener itself calls it: then
     * the watch ends when the listener returns.
     *
     * @throws RuntimeException the exception of the listener that ended the watch; an {@link Error} likewise
     */
    @Override
    public void close() {
        closing = true;
        if (tracer != null) {
            tracer.close();
        }
        if (!thread.equals(Thread.currentThread())) {
            Threads.join(thread);
        }
        Throwable thrown = failure;
        failure = null;
        switch (thrown) {
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case null, default -> {}
        }
    }

    private void run() {
        try {
            while (alive && !closing) {
                acceptStops();
                if (System.nanoTime() - lastLook >= interval()) {
                    lookAtAll();
                }
                if (turns.isEmpty()) {
                    long rest = lastLook + interval() - System.nanoTime();
                    @Nullable ProcessStop stop = stops.poll(Math.max(0, rest), TimeUnit.NANOSECONDS);
                    if (stop != null) {
                        accept(stop);
                    }
                } else {
                    turn(turns.next());
                }
                alive = isAnyLeft();
            }
        } catch (RuntimeException | Error e) {
            failure = e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            alive = false;
            tree.processes().forEach(tree::remove);
            if (tracer != null) {
                tracer.close();
            }
        }
    }

    private long interval() {
        return System.nanoTime() - lastChange < RECENT_NANOS ? SHORT_INTERVAL_NANOS : LONG_INTERVAL_NANOS;
    }

    private void acceptStops() {
        for (ProcessStop stop = stops.poll(); stop != null; stop = stops.poll()) {
            accept(stop);
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
                held.remove(stopped);
                boolean known = tree.find(stopped).isPresent();
                forget(stopped);
                if (known) {
                    listener.ended(stopped);
                }
                return;
            }
            case EXEC -> drop(stopped); // the old program's mappings are gone
            case BORN -> held.add(stopped);
            case BREAKPOINT -> {}
        }
        boolean _ = tree.add(stopped);
        visits.computeIfAbsent(stopped, _ -> new Visit(stopped)).add(stop);
        turns.addHeld(stopped);
    }

    /** A process may have ended before its child has first run: then the tree is empty for a moment. */
    private boolean isAnyLeft() {
        return !tree.isEmpty() || (tracer != null && (tracer.isTracing() || !stops.isEmpty()));
    }

    /**
     * Processes that exist already are not held: the second look finds files that they map during the first. A traced
     * process whose parent has ended is in no list of children.
     */
    private void lookFirst() {
        if (!launching) {
            keepTraced();
            tree.processes().forEach(this::lookFirstAt);
            long began = System.nanoTime();
            while (!firstLooks.isEmpty()
                    && !closing
                    && (gaps.isEmpty() || System.nanoTime() - began <= MAX_FIRST_LOOKS_NANOS)) {
                acceptStops();
                turn(turns.next());
            }
        }
        alive = isAnyLeft();
        lastLook = System.nanoTime();
    }

    private void lookFirstAt(int process) {
        firstLooks.put(process, tracer == null ? 1 : 2);
        look(process);
    }

    /** Queues a running process for a visit. */
    private void look(int process) {
        visits.computeIfAbsent(process, Visit::new);
        turns.add(process);
    }

    /** Finds code that the tracer didn't stop at, or all code if no tracer exists. */
    private void lookAtAll() {
        lastLook = System.nanoTime();
        if (tracer != null && !tracer.isTracing() && stops.isEmpty()) {
            held.clear(); // the tracer has failed and reports nothing more: no end, and no exec
            launching = false;
        }
        if (launching) {
            return;
        }
        keepTraced();
        for (int process : tree.processes()) {
            if (tree.find(process).stream().anyMatch(WatchedProcess::isDue)) {
                look(process);
            } else if (!held.contains(process) && !new Tasks(host).isRunning(process)) {
                gone(process);
            }
        }
    }

    /** Performs steps of a visit until the turn of the process is over. */
    private void turn(int process) {
        Visit visit = visits.get(process);
        long began = System.nanoTime();
        boolean more = visit != null;
        while (more && visit != null && System.nanoTime() - began < TURN_NANOS) {
            more = step(visit) && visits.get(process) == visit;
        }
        if (visit == null || visits.get(process) != visit) {
            return; // the process has ended
        }
        visit.nanos += System.nanoTime() - began;
        if (!more) {
            visitEnded(visit);
        } else if (visit.isHeld()) {
            turns.addHeld(process);
        } else {
            turns.add(process);
        }
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
                visit.read.add(read(visit.pid, file));
            }
        }
        return true;
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

    private void begin(Visit visit) {
        visit.begin();
        int process = visit.pid;
        boolean newProgram = firstLooks.containsKey(process);
        for (ProcessStop stop : visit.served) {
            if (stop.kind() == ProcessStop.Kind.EXEC) {
                executed(stop);
            }
            newProgram |= stop.kind() != ProcessStop.Kind.BREAKPOINT;
        }
        if (visit.served.isEmpty()) {
            keepIfTraced(process);
            // Before the listener is called, which takes time: a child may end meanwhile.
            for (int child : tree.addChildren(process)) {
                // The tracer stops a new child before it runs, so one look finds all of its code.
                if (keepIfTraced(child) || firstLooks.isEmpty()) {
                    look(child);
                } else {
                    lookFirstAt(child);
                }
            }
        }
        visit.loader = newProgram && tracer != null ? startOf(process) : Optional.empty();
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
    }

    private void searched(Visit visit, WatchedProcess.Found found) {
        if (!found.running()) {
            gone(visit.pid);
        }
        visit.loader.ifPresent(start -> found.atAddress().ifPresent(loader -> breakAtLoader(visit.pid, start, loader)));
        visit.searched(found.appeared());
        if (!found.problem().isEmpty()) {
            Path folder = host.process(visit.pid);
            Diagnostic problem = new Diagnostic(Kind.LEFT_OUT, "process " + visit.pid, found.problem());
            visit.read.add(
                    new UsdtScan.File(folder, folder.toString(), List.of(), List.of(visit.pid), List.of(problem)));
            gaps.add(new Diagnostic(Kind.NOT_ATTACHED, problem.subject(), problem.message()));
        }
    }

    private void notifyListener(Visit visit) {
        if (!visit.read.isEmpty()) {
            lastChange = System.nanoTime();
            listener.appeared(visit.pid, UsdtScan.of(host, visit.pid, visit.read));
        }
    }

    private void visitEnded(Visit visit) {
        int process = visit.pid;
        visits.remove(process);
        resume(visit.served);
        tree.find(process).ifPresent(known -> known.postpone(REST_FACTOR * visit.nanos));
        boolean again = firstLooks.computeIfPresent(process, (_, looks) -> looks == 1 ? null : looks - 1) != null;
        if (!visit.waiting.isEmpty()) {
            Visit next = new Visit(process);
            visit.waiting.forEach(next::add);
            visits.put(process, next);
            turns.addHeld(process);
        } else if (again) {
            look(process);
        }
    }

    private void resume(List<ProcessStop> served) {
        if (tracer != null) {
            served.forEach(tracer::resume);
        }
    }

    /** Drops the visit of a process and resumes its stopped threads, if they still exist. */
    private void drop(int process) {
        Visit visit = visits.remove(process);
        turns.remove(process);
        if (visit != null) {
            resume(visit.served);
            resume(visit.waiting);
        }
    }

    private void forget(int process) {
        drop(process);
        firstLooks.remove(process);
        tree.remove(process);
    }

    /** A look did not find the process. The tracer may still trace it. */
    private void gone(int process) {
        acceptStops();
        keepTraced();
        if (!held.contains(process) && tree.find(process).isPresent()) {
            forget(process);
            listener.ended(process);
        }
    }

    /** Keeps all processes that are traced: one whose second thread calls exec looks like a zombie for a moment. */
    private void keepTraced() {
        if (tracer != null) {
            Set<Integer> traced = tracer.processes();
            traced.forEach(tree::add);
            held.addAll(traced);
        }
    }

    /**
     * Leaves the end of a process to the tracer, if the process is traced: the tracer reports it even if the process
     * has not stopped yet. A child is not traced if it was created with CLONE_UNTRACED, or before its parent was traced
     * without being found then.
     *
     * @return whether the process is traced
     */
    private boolean keepIfTraced(int process) {
        if (tracer == null) {
            return false;
        }
        if (held.contains(process) || tracer.processes().contains(process) || tracer.isTracing(process)) {
            held.add(process);
            return true;
        }
        if (tracer.isTracing() && new Tasks(host).isRunning(process)) {
            addGap("a child process is not held: it was created with CLONE_UNTRACED, or just before tracing"
                    + " started, or it has another tracer");
        }
        return false;
    }

    private void addGap(String reason) {
        gaps.add(new Diagnostic(Kind.LATE, "", reason));
    }

    private Optional<DynamicLoaders.Start> startOf(int process) {
        try {
            return Optional.of(loaders.start(process));
        } catch (IOException e) {
            noBreakpoint(process, e);
            return Optional.empty();
        }
    }

    private void breakAtLoader(int process, DynamicLoaders.Start start, MappedFile loader) {
        try {
            Optional<DynamicLoaders.Place> found = loaders.of(start, loader);
            if (found.isPresent() && tracer != null) {
                DynamicLoaders.Place place = found.get();
                tracer.breakAt(process, place.file(), place.identity(), place.offset());
            }
        } catch (BpfException | IOException e) {
            noBreakpoint(process, e);
        }
    }

    private void noBreakpoint(int process, Exception why) {
        if (new Tasks(host).isRunning(process)) {
            addGap("libraries that a process loads later are found by polling every few milliseconds: "
                    + why.getMessage());
        }
    }
}
