package io.bpf4j.usdt;

import io.bpf4j.process.Reasons;
import io.bpf4j.process.hold.ProcessTracer;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.thread.Threads;
import java.util.List;
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
    private final WatchEngine engine;
    private final Thread thread;
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
         * A process has no code of some files any more (dlclose). Links for its pid remain valid for a file that it maps
         * again, except those of {@link AttachStrategy#IP_MAP}, which depend on addresses. If it maps the file again,
         * {@link #appeared} is called again. A process that makes files for a while, such as with memfd_create(2),
         * needs its links closed here: a link keeps its file in memory.
         *
         * @param files those with probes. Their paths may be gone
         */
        default void unmapped(int pid, List<UsdtScan.File> files) {}

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
        final Host host;
        final int pid;
        final boolean children;
        final boolean launcher;
        final boolean holding;

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
        Reasons gaps = new Reasons();
        HeldProcesses held = new HeldProcesses(builder, gaps);
        try {
            WatchEngine engine = new WatchEngine(builder, listener, held, gaps);
            UsdtWatch watch = new UsdtWatch(engine);
            engine.lookFirst();
            watch.thread.start();
            return watch;
        } catch (RuntimeException | Error e) { // a listener may throw anything, and a thread may not start
            try (held) {
                throw e;
            }
        }
    }

    private UsdtWatch(WatchEngine engine) {
        this.engine = engine;
        this.thread = Thread.ofPlatform().name("bpf4j-usdt-watch").daemon().unstarted(this::run);
    }

    private void run() {
        try {
            engine.run();
        } catch (RuntimeException | Error e) {
            failure = e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            engine.end();
        }
    }

    /** Whether at least one watched process is still running. */
    public boolean isAlive() {
        return engine.isAlive();
    }

    /**
     * The reasons why events from before their probe was attached may be missing ({@link Diagnostic.Kind#LATE}). Empty
     * if no event is missing. If there are many reasons, only the first ones are listed.
     */
    public List<Diagnostic> gaps() {
        return engine.gaps();
    }

    /**
     * Ends the watch and resumes the processes. Waits for a running listener, unless the listener itself calls it: then
     * the watch ends when the listener returns.
     *
     * @throws RuntimeException the exception of the listener that ended the watch; an {@link Error} likewise
     */
    @Override
    public void close() {
        engine.stop();
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
}
