package io.bpf4j.usdt;

import io.bpf4j.loader.error.BpfException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.process.ProcessStop;
import io.bpf4j.loader.process.ProcessTracer;
import io.bpf4j.usdt.internal.process.DynamicLoaders;
import io.bpf4j.usdt.internal.process.ProcessFiles;
import io.bpf4j.usdt.internal.process.ProcessTree;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Sees code that appears in a process while it runs: a library that it loads (dlopen, also of a memfd), the program that
 * it becomes by exec, and, if asked for, the same in its children and theirs, from their birth. <b>Thread-safe.</b>
 *
 * <p>The process is held while the {@link Listener} attaches: before the first instruction after fork and exec, and
 * before the constructors of a library. So no first event is missed. {@link ProcessTracer} says how that is done, what
 * it costs the process and what it needs. Where it can't be done, processes are looked at every few milliseconds instead,
 * a probe may fire before it is attached, and {@link #gaps} says so. The same goes for code that a process maps without
 * telling its dynamic loader.
 *
 * {@snippet lang = "java":
 * UsdtWatch.Listener attach = (pid, scans) -> {
 *     for (UsdtScan scan : scans) {
 *         links.add(usdt.attachAll(program, scan.matching(pattern), AttachOptions.defaults().pid(pid)));
 *     }
 * };
 * try (UsdtWatch watch = UsdtWatch.of(pid).withChildren().start(attach)) {
 *     while (watch.isAlive()) {
 *         ring.poll(Duration.ofMillis(100), handler);
 *     }
 * }
 * }
 *
 * <p>A command is watched from its first instruction where it is started by {@link
 * io.bpf4j.loader.process.HeldCommand}, watched, and then released.
 */
public final class UsdtWatch implements AutoCloseable {
    private static final long CLOSE_NANOS = 5_000_000;
    private static final long RELAXED_NANOS = 20_000_000;

    /** A process loads its libraries when it starts; after that they are rare. */
    private static final long RESTLESS_NANOS = 3_000_000_000L;

    private final int pid;
    private final Listener listener;
    private final ProcessTree tree;
    private final ScanCache cache;
    private final DynamicLoaders loaders;
    private final Host host;
    private final @Nullable ProcessTracer tracer;
    private final BlockingQueue<ProcessStop> stops;
    private final Set<String> gaps = new LinkedHashSet<>();
    private final Thread thread;
    private long lastLook;
    private long lastChange;
    private boolean launching;
    private volatile boolean alive = true;
    private volatile boolean closing;
    private volatile @Nullable RuntimeException failure;

    /** Is told of one thing after the other: of the first in the thread that starts the watch, then in one of the watch. */
    @FunctionalInterface
    public interface Listener {
        /**
         * Code has appeared in a process, which waits until this returns.
         *
         * @param pid the process
         * @param scans the files that it had not mapped executable before; each with its probes, or none
         */
        void appeared(int pid, List<UsdtScan> scans);

        /**
         * A process has ended, or links that were made for its number have lost it: it called exec in another thread than
         * its first. In that case code appears in it next.
         */
        default void ended(int pid) {}

        /**
         * A process has become another program; code appears in it next. Links that were made for its number are as good for
         * a file that it maps again, but for those of {@link AttachStrategy#IP_MAP}, which go by addresses.
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

        /** Watches its children, too, and theirs: those that are there now and those that come. */
        public Builder withChildren() {
            return new Builder(host, pid, true, launcher, holding);
        }

        /** The process is a {@link io.bpf4j.loader.process.HeldCommand}: only what it becomes is of interest. */
        public Builder fromExec() {
            return new Builder(host, pid, children, true, holding);
        }

        /** Holds nobody: the processes are only looked at, every few milliseconds, and first events may be missed. */
        public Builder withoutHolding() {
            return new Builder(host, pid, children, launcher, false);
        }

        /** Starts the watch. When this returns, the listener was told of all that is mapped now. */
        public UsdtWatch start(Listener listener) {
            return UsdtWatch.start(this, listener);
        }
    }

    /** For watching one process of a machine. */
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
        UsdtWatch watch = new UsdtWatch(what, listener, tracer, stops);
        if (tracer == null) {
            watch.gaps.add(gap);
        }
        try {
            watch.lookFirst();
            watch.thread.start();
            return watch;
        } catch (RuntimeException e) {
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

    /** Whether a process is left. */
    public boolean isAlive() {
        return alive;
    }

    /**
     * Why events may be missing that came before their probe was attached, a sentence each, without a full stop; none if no
     * event is.
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
     * Lets the processes go on, unwatched. Waits for a listener that is at work.
     *
     * @throws RuntimeException what the listener has thrown, which has ended the watch
     */
    @Override
    public void close() {
        closing = true;
        if (tracer != null) {
            tracer.close();
        }
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        RuntimeException thrown = failure;
        failure = null;
        if (thrown != null) {
            throw thrown;
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
        } catch (RuntimeException e) {
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
                    tree.remove(stopped);
                    listener.ended(stopped);
                }
            }
        } finally {
            if (tracer != null) {
                tracer.resume(stop);
            }
        }
        keepTraced(List.of(stopped));
        alive = !tree.processes().isEmpty();
    }

    /** Whoever is there already is not held: what it maps while it is looked at is found by the second look. */
    private void lookFirst() {
        if (tracer != null && !launching) {
            List<ProcessTree.Change> changes = tree.look();
            tree.processes().forEach(this::breakAtLoader);
            tell(changes);
        }
        lookAtAll();
    }

    /** Finds what the tracer didn't stop at, or everything where there is no tracer. */
    private void lookAtAll() {
        if (!launching) {
            Set<Integer> before = new HashSet<>(tree.processes());
            tell(tree.look());
            keepTraced(before);
            tree.processes().forEach(before::remove);
            before.forEach(listener::ended);
        }
        alive = !tree.processes().isEmpty();
        lastLook = System.nanoTime();
    }

    /**
     * Of those that are traced, the tracer knows best which have ended: a process whose second thread calls exec looks like a
     * zombie for a moment.
     */
    private void keepTraced(Collection<Integer> processes) {
        if (tracer != null) {
            processes.stream().filter(tracer::isTracing).forEach(tree::add);
        }
    }

    private void tell(List<ProcessTree.Change> changes) {
        for (ProcessTree.Change change : changes) {
            lastChange = System.nanoTime();
            listener.appeared(change.pid(), scans(change));
        }
    }

    private List<UsdtScan> scans(ProcessTree.Change change) {
        if (change.problem().isEmpty()) {
            return change.files().stream().map(cache::scan).toList();
        }
        Path process = host.process(change.pid());
        return List.of(new UsdtScan(process, process.toString(), List.of(), List.of(change.problem())));
    }

    private void breakAtLoader(int process) {
        if (tracer == null) {
            return;
        }
        loaders.of(process).ifPresent(place -> {
            try {
                tracer.breakAt(process, place.file(), place.identity(), place.offset());
            } catch (BpfException e) {
                if (tree.isRunning(process)) {
                    synchronized (gaps) {
                        gaps.add("libraries that a process loads later are looked for every few milliseconds: "
                                + e.getMessage());
                    }
                }
            }
        });
    }
}
