package io.bpf4j.trace;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.process.FirstThreads;
import io.bpf4j.process.Tasks;
import io.bpf4j.process.hold.HeldCommand;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.sys.Host;
import io.bpf4j.usdt.AttachStrategy;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import io.bpf4j.usdt.UsdtWatch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Follows the processes of a {@link Target}: attaches a {@link ProbeSession} to probes and functions when their code
 * appears in one of them, and detaches when a process has ended. A question about a target does this by itself: see
 * {@link Question#on(Target, String...)}. <i>Thread-safe.</i>
 *
 * <p>A command passes three states. {@link #start} starts it as a process that waits, and watches this process. {@link
 * #release} lets it execute the program. {@link #close} ends it, if it still runs.
 */
public final class Following implements AutoCloseable {
    private final Target target;
    private final Listener listener;
    private final Follower follower;
    private final FirstThreads firstThreads;
    private final AtomicInteger failures = new AtomicInteger();
    private final @Nullable HeldCommand command;
    private volatile @Nullable UsdtWatch watch;

    /** Watches control groups; null for a process or a command. */
    private volatile @Nullable GroupWatch groups;

    /** Whether the next exec is that of the command. The process before it is a shell, whose events do not count. */
    private volatile boolean launching;

    /**
     * Decides what to attach to, and receives what happens. The methods are called one at a time: during {@link #start} by
     * its caller, later by a thread of the watch.
     */
    @FunctionalInterface
    public interface Listener {
        /** The probes to attach to among those of files that have appeared in a process. */
        List<UsdtProbe> select(UsdtScan appeared);

        /** The probes to attach to in a command that is not held when it executes its program: those of known files. */
        default List<UsdtProbe> known() {
            return List.of();
        }

        /**
         * A command executes its program, or the code that processes of control groups have now is attached to: events
         * count from now on. Not called for a process, whose events count as soon as the session is attached.
         */
        default void started() {}

        /** The session was attached to probes of a process. */
        default void attached(UsdtLink link) {}

        /** A function was left out, because the kernel can't probe it; it is left out in all processes. */
        default void leftOut(FunctionProbe function) {}

        /** Code has appeared in a process; the session is attached to it, if it is to be. */
        default void appeared(int pid) {}

        /** The session could not be attached to probes that have appeared; others remain attached. */
        default void failed(Diagnostic why) {}
    }

    private Following(
            ProbeSession session,
            Target target,
            List<FunctionProbe> functions,
            Features features,
            Listener listener,
            @Nullable HeldCommand command)
            throws IOException {
        this.target = target;
        this.listener = listener;
        this.command = command;
        this.firstThreads = new FirstThreads(AttachStrategy.bestFor(features) != AttachStrategy.MULTI);
        this.follower = new Follower(session, listener, functions, this::failed);
    }

    /**
     * Starts to follow. When this method returns, the session is attached to the code that a process has mapped; a command
     * waits for {@link #release}.
     *
     * @param functions the entries and returns of functions to attach to in each process
     * @param features those that the session was loaded with
     * @return the caller's to close; it does not close the session
     * @throws IOException if the command can't be started, or control groups can't be read
     * @throws BpfException if the kernel refuses one of the functions
     * @throws IllegalArgumentException if the target is one of control groups, and the session is not that of a question
     *     {@link Question#within within} such a target
     */
    public static Following start(
            ProbeSession session, Target target, List<FunctionProbe> functions, Features features, Listener listener)
            throws IOException {
        if (session instanceof RunningProgram program) {
            program.follows(target);
        }
        Following following = new Following(session, target, functions, features, listener, held(target));
        try {
            if (session instanceof RunningProgram program) {
                program.attachedBy(following);
            }
            if (target.inGroups()) {
                following.watchGroups(session);
            } else {
                following.watch();
            }
            return following;
        } catch (Throwable e) {
            try (following) {
                throw e;
            }
        }
    }

    private static @Nullable HeldCommand held(Target target) throws IOException {
        if (target.line().isEmpty()) {
            return null;
        }
        List<String> line = new ArrayList<>(target.line());
        line.set(0, target.program().toString());
        try {
            return HeldCommand.start(line, target.outputToError());
        } catch (IOException e) {
            throw new IOException("start " + target.line().getFirst() + ": " + e.getMessage(), e);
        }
    }

    private void watch() {
        HeldCommand started = command;
        int root = started == null ? target.pid().orElseThrow() : started.pid();
        follower.attachFunctions(root);
        launching = started != null;
        UsdtWatch.Builder builder = UsdtWatch.of(root);
        builder = started == null ? builder : builder.fromExec();
        builder = target.children() ? builder.withChildren() : builder;
        builder = target.holding() ? builder : builder.withoutHolding();
        UsdtWatch begun = builder.start(new Events());
        watch = begun;
        if (started != null && !begun.gaps().isEmpty()) {
            // The process is not held at its exec: probes attached before the exec exist when it maps the file.
            List<UsdtProbe> known = listener.known();
            if (!known.isEmpty()) {
                follower.attach(started.pid(), known);
            }
            listener.started();
        }
    }

    private void watchGroups(ProbeSession session) throws IOException {
        if (!(session instanceof RunningProgram program) || !program.isInGroups()) {
            throw new IllegalArgumentException(
                    "the kernel takes the events of control groups alone if the question is within the target");
        }
        GroupWatch begun =
                GroupWatch.of(Host.running(), ((TargetData) target).groups().orElseThrow());
        groups = begun;
        follower.attachFunctions(Follower.ALL);
        begun.start(new GroupWatch.Listener() {
            @Override
            public void groups(Set<Long> ids) {
                program.setGroups(ids);
            }

            @Override
            public boolean appeared(int pid, UsdtScan scan) {
                boolean attached = follower.appearedInGroups(scan);
                listener.appeared(pid);
                return attached;
            }

            @Override
            public long execs() {
                return program.groupExecs();
            }
        });
        listener.started();
    }

    /** Passes the events of the watch to the follower, and on to the listener. */
    private final class Events implements UsdtWatch.Listener {
        @Override
        public void appeared(int pid, UsdtScan scan) {
            firstThreads.add(pid);
            follower.appeared(pid, scan);
            listener.appeared(pid);
        }

        @Override
        public void unmapped(int pid, List<UsdtScan.File> files) {
            follower.unmapped(pid, files);
        }

        @Override
        public void ended(int pid) {
            if (new Tasks(Host.running()).isRunning(pid)) {
                firstThreads.add(pid); // it has executed another program, and goes on
            } else {
                firstThreads.remove(pid);
            }
            follower.ended(pid);
        }

        @Override
        public void exec(int pid) {
            firstThreads.add(pid);
            follower.exec(pid);
            if (launching) {
                launching = false;
                listener.started();
            }
        }
    }

    private void failed(Diagnostic why) {
        failures.incrementAndGet();
        listener.failed(why);
    }

    /** Lets the command execute its program. Does nothing for a process, or if it was called before. */
    public void release() {
        if (command != null) {
            command.release();
        }
    }

    /**
     * Whether a followed process still runs: of a command without its children, the command itself. Always true for
     * control groups.
     */
    public boolean isAlive() {
        firstThreads.look();
        if (groups != null) {
            return true;
        }
        UsdtWatch begun = watch;
        return (command == null || target.children()) ? begun != null && begun.isAlive() : command.isAlive();
    }

    /**
     * How the command ended: its exit code, or 128 and the number of the signal that ended it. Empty if it still runs, or
     * there is no command.
     */
    public OptionalInt status() {
        return command == null ? OptionalInt.empty() : command.status();
    }

    /**
     * The reasons why events may be missing: code that was attached to too late, or not at all. Empty if none is missing.
     * Of many reasons there are only the first.
     */
    public List<Diagnostic> gaps() {
        UsdtWatch begun = watch;
        List<Diagnostic> gaps = new ArrayList<>(begun == null ? List.of() : begun.gaps());
        gaps.addAll(firstThreads.gaps());
        GroupWatch ofGroups = groups;
        gaps.addAll(ofGroups == null ? List.of() : ofGroups.gaps());
        int failed = failures.get();
        if (failed > 0) {
            gaps.add(new Diagnostic(
                    Kind.NOT_ATTACHED,
                    "",
                    "attaching to new probes failed " + failed + (failed == 1 ? " time" : " times")));
        }
        return gaps;
    }

    /** How many processes are followed now: those of the control groups, or the process and those below it. */
    int processes() {
        GroupWatch ofGroups = groups;
        return ofGroups == null ? firstThreads.count() : ofGroups.processes();
    }

    /** The files with functions that no process has mapped, so that none of their functions was called. */
    public Set<FileIdentity> notMapped() {
        return follower.notMapped();
    }

    /**
     * Stops to follow: attaches to nothing more, and holds no process any more. What is attached remains attached, and a
     * command goes on. A second call does nothing.
     *
     * @throws RuntimeException the exception of the listener that ended the watch; an {@link Error} likewise
     */
    public void stop() {
        try (UsdtWatch _ = watch;
                GroupWatch _ = groups) {
            // Closes the one that there is.
        }
    }

    /**
     * Ends the command if it still runs, as {@link #close} does, and lets one that has not begun never begin. This may wait
     * for four seconds. Whatever else this has started goes on: it is for a process that may end before it comes to {@link
     * #close}, and whose command would outlive it. Does nothing without a command, or if the command has ended.
     */
    public void endCommand() {
        if (command != null) {
            command.close();
        }
    }

    /** Stops to follow, and ends the command if it still runs: by SIGTERM and, after two seconds, SIGKILL. */
    @Override
    public void close() {
        try (follower;
                HeldCommand _ = command) {
            stop();
        }
    }
}
