package io.bpf4j.usdt;

import io.bpf4j.loader.error.BpfException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.process.ProcessStop;
import io.bpf4j.loader.process.ProcessTracer;
import io.bpf4j.usdt.internal.process.DynamicLoaders;
import io.bpf4j.usdt.internal.process.ProcessFiles;
import io.bpf4j.usdt.internal.process.ProcessTree;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Detects code that appears in a running process: a library that the process loads (dlopen, also of a memfd), a new
 * program by exec, and optionally the same in all its descendants, from fork on. <b>Thread-safe.</b>
 *
 * <p>The process is held while the {@link Listener} attaches: before the first instruction after fork and exec, and
 * before the constructors of a library. So no first event is missed. {@link ProcessTracer} documents how a process is
 * held, what holding costs the process and what it needs. If a process can't be held, it is polled every few
 * milliseconds instead, a probe may fire before it is attached, and {@link #gaps} says so. Code that a process maps
 * without its dynamic loader is also found by polling.
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
 * <p>To watch a command from its first instruction, start it by {@link io.bpf4j.loader.process.HeldCommand}, start the
 * watch, then release the command.
 *
 * <p>Tested by {@code CliFollowTest} and {@code CliFirstEventsTest}.
 */
public final class UsdtWatch implements AutoCloseable {
    private static final long CLOSE_NANOS = 5_000_000;
    private static final long RELAXED_NANOS = 20_000_000;

    /** A process loads most libraries when it starts. */
    private static final long RESTLESS_NANOS = 3_000_000_000L;

    private static final int MAX_GAPS = 5;

    private final int pid;
    private final Listener listener;
    private final ProcessTree tree;
    private final ScanCache cache;
    private final DynamicLoaders loaders;
    private final Host host;
    private final @Nullable ProcessTracer tracer;
    private final BlockingQueue<ProcessStop> stops;
    /**
     * Processes whose end the tracer will tell. A look at all processes may find it before, but the ends of several in
     * any order: a process whose parent waits for it would seem to outlive the parent.
     */
    private final Set<Integer> held = new HashSet<>();

    private final Set<String> gaps = new LinkedHashSet<>();
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
         * <p>Between vfork and exec a child has the memory of its parent. On most kernels the links of both then fire in
         * both, so a program that is attached to both compares {@code usdt_process()} of {@code usdt.h} with the process
         * that it runs in.
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

    /** What to watch. <b>Immutable.</b> */
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

        /** The process is a {@link io.bpf4j.loader.process.HeldCommand}: only the program after its exec is watched. */
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

    private static UsdtWatch start(Builder what, Listener listener) {
        BlockingQueue<ProcessStop> stops = new LinkedBlockingQueue<>();
        @Nullable ProcessTracer tracer = null;
        String gap = "processes are looked at every few milliseconds instead of being held";
        if (what.holding) {
            try {
                tracer = ProcessTracer.start(what.host, what.pid, what.children, stops::add);
            } catch (SyscallException e) {
                gap += ": " + e.getMessage();
            }
        }
        try {
            UsdtWatch watch = new UsdtWatch(what, listener, tracer, stops);
            if (tracer == null) {
                watch.addGap(gap);
            }
            watch.lookFirst();
            watch.thread.start();
            return watch;
        } catch (RuntimeException | Error e) { // a listener may throw anything, and a thread may not start
            if (tracer != null) {
                tracer.close();
            }
            throw e;
        }
    }

    private UsdtWatch(
            Builder what, Listener listener, @Nullable ProcessTracer tracer, BlockingQueue<ProcessStop> stops) {
        this.pid = what.pid;
        this.listener = listener;
        this.tracer = tracer;
        this.stops = stops;
        this.host = what.host;
        this.tree = new ProcessTree(host, pid);
        this.cache = new ScanCache(new ProcessFiles(host));
        if (what.children) {
            tree.includeChildren();
        }
        this.loaders = new DynamicLoaders(host);
        this.launching = what.launcher && tracer != null;
        this.lastChange = System.nanoTime();
        this.thread = Thread.ofPlatform().name("bpf4j-usdt-watch").daemon().unstarted(this::run);
    }

    /** Whether at least one watched process is still running. */
    public boolean isAlive() {
        return alive;
    }

    /**
     * The reasons why events from before their probe was attached may be missing, one sentence each, without a full
     * stop. Empty if no event is missing. Of many reasons there are only the first.
     */
    public List<String> gaps() {
        List<String> all = new ArrayList<>();
        synchronized (gaps) {
            all.addAll(gaps);
        }
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
        boolean interrupted = false;
        while (thread.isAlive() && !thread.equals(Thread.currentThread())) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
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
                long rest = lastLook + interval() - System.nanoTime();
                @Nullable ProcessStop stop = stops.poll(Math.max(0, rest), TimeUnit.NANOSECONDS);
                if (stop != null) {
                    handle(stop);
                }
                if (System.nanoTime() - lastLook >= interval()) {
                    lookAtAll();
                }
            }
        } catch (RuntimeException | Error e) {
            failure = e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            alive = false;
            if (tracer != null) {
                tracer.close();
            }
        }
    }

    private long interval() {
        return System.nanoTime() - lastChange < RESTLESS_NANOS ? CLOSE_NANOS : RELAXED_NANOS;
    }

    private void handle(ProcessStop stop) {
        int stopped = stop.pid();
        try {
            switch (stop.kind()) {
                case BORN -> {
                    held.add(stopped);
                    tree.add(stopped);
                    breakAtLoader(stopped);
                    tell(tree.look(stopped));
                }
                case EXEC -> {
                    if (stopped == pid) {
                        launching = false;
                    }
                    if (stop.isRenumbered()) {
                        listener.ended(stopped);
                    } else {
                        listener.exec(stopped);
                    }
                    tree.renew(stopped);
                    breakAtLoader(stopped);
                    tell(tree.look(stopped));
                }
                case BREAKPOINT -> tell(tree.look(stopped));
                case ENDED -> {
                    held.remove(stopped);
                    tree.remove(stopped);
                    listener.ended(stopped);
                }
            }
        } finally {
            if (tracer != null) {
                tracer.resume(stop);
            }
        }
        keepTraced();
        alive = isAnyLeft();
    }

    /** A process may have ended before its child has first run: then the tree is empty for a moment. */
    private boolean isAnyLeft() {
        return !tree.processes().isEmpty() || (tracer != null && (tracer.isTracing() || !stops.isEmpty()));
    }

    /**
     * Processes that exist already are not held: the second look finds files that they map during the first. A traced
     * process whose parent has ended is in no list of children.
     */
    private void lookFirst() {
        if (tracer != null && !launching) {
            keepTraced();
            List<ProcessTree.Change> changes = tree.look();
            tree.processes().forEach(this::breakAtLoader);
            tell(changes);
        }
        lookAtAll();
    }

    /** Finds code that the tracer didn't stop at, or all code if no tracer exists. */
    private void lookAtAll() {
        if (!launching) {
            Set<Integer> before = new HashSet<>(tree.processes());
            List<ProcessTree.Change> changes = tree.look();
            findUntraced(); // before the listener is told, which takes time: a child may end meanwhile
            tell(changes);
            keepTraced();
            tree.processes().forEach(before::remove);
            if (tracer != null && !tracer.isTracing() && stops.isEmpty()) {
                held.clear(); // it failed, and will tell nothing more
            }
            before.removeAll(held);
            before.forEach(listener::ended);
        }
        alive = isAnyLeft();
        lastLook = System.nanoTime();
    }

    /** Keeps all processes that are traced: one whose second thread calls exec looks like a zombie for a moment. */
    private void keepTraced() {
        if (tracer != null) {
            Set<Integer> traced = tracer.processes();
            traced.forEach(tree::add);
            held.addAll(traced);
        }
    }

    /** A child is not traced if it was created with CLONE_UNTRACED, or before its parent was traced and not found then. */
    private void findUntraced() {
        if (tracer == null || !tracer.isTracing()) {
            return;
        }
        Set<Integer> traced = tracer.processes();
        for (int process : tree.processes()) {
            if (!traced.contains(process) && !tracer.isTracing(process) && host.isRunning(process)) {
                addGap("a child process is not held: it was created with CLONE_UNTRACED, or just before tracing"
                        + " started, or another process traces it");
            }
        }
    }

    /** The processes decide how many reasons they give, each with a name of theirs. */
    private void addGap(String reason) {
        synchronized (gaps) {
            gaps.add(gaps.size() < MAX_GAPS || gaps.contains(reason) ? reason : "and there are further reasons");
        }
    }

    private void tell(List<ProcessTree.Change> changes) {
        for (ProcessTree.Change change : changes) {
            lastChange = System.nanoTime();
            listener.appeared(change.pid(), UsdtScan.of(host, change.pid(), files(change)));
        }
    }

    private List<UsdtScan.File> files(ProcessTree.Change change) {
        if (change.problem().isEmpty()) {
            return change.files().stream().map(cache::scan).toList();
        }
        int process = change.pid();
        Path folder = host.process(process);
        return List.of(
                new UsdtScan.File(folder, folder.toString(), List.of(), List.of(process), List.of(change.problem())));
    }

    private void breakAtLoader(int process) {
        if (tracer == null) {
            return;
        }
        try {
            Optional<DynamicLoaders.Place> found = loaders.of(process);
            if (found.isPresent()) {
                DynamicLoaders.Place place = found.get();
                tracer.breakAt(process, place.file(), place.identity(), place.offset());
            }
        } catch (BpfException | IOException e) {
            if (host.isRunning(process)) {
                addGap("libraries that a process loads later are looked for every few milliseconds: " + e.getMessage());
            }
        }
    }
}
