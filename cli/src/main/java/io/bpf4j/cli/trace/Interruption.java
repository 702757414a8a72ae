package io.bpf4j.cli.trace;

import io.bpf4j.cli.output.Console;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Turns Ctrl-C, SIGTERM and SIGHUP into an orderly end of a command that has registered for it.
 *
 * <p>The first signal asks the command to stop: it detaches, prints its answer and ends with its own exit code. The
 * second ends the process at once, whatever the command does: it may be reading symbols or writing a page, and nobody
 * wants that answer any more. There is one exception. Detaching may take minutes if the kernel has perf uprobes only; a
 * second signal meanwhile ends this wait, the answer is still printed, and the third signal ends the process. A command
 * whose standard output nobody reads can't print its answer. Then SIGTERM and SIGHUP end it, too, with a message; Ctrl-C
 * does not, because a pager reads on when its user does. A command
 * that has not registered, such as {@code list}, is ended by the first signal. A process that a signal ends has the exit
 * code 128 plus the signal's number, as a shell expects. A command may take SIGHUP for something else. <i>Thread-safe.</i>
 */
public final class Interruption {
    /** The time that a command has to end by itself. */
    private static final Duration GRACE = Duration.ofSeconds(2);

    /** The time that the last actions of a process may take that a signal ends: they may write to a full pipe. */
    private static final Duration LAST_WORDS = Duration.ofSeconds(5);

    /** How often a command that was asked to end is looked at. */
    private static final Duration LOOK = Duration.ofMillis(100);

    /** Signals within this time, in nanoseconds, are one request: timeout(1) signals its child and then its group. */
    private static final long ONE_WISH = 50_000_000;

    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicBoolean handles;
    private final AtomicLong lastSignal = new AtomicLong(Long.MIN_VALUE);
    private volatile boolean waits;
    private volatile @Nullable Runnable stop;
    private volatile @Nullable Runnable last;
    private volatile @Nullable Runnable atHalt;
    private volatile @Nullable Runnable companion;
    private volatile @Nullable Runnable onHangUp;
    private volatile @Nullable Output output;

    /** Where a command prints its answer, and what to say if it can't. */
    private record Output(Console console, Supplier<String> lost) {}

    private enum Signal {
        HUP(1),
        INT(2),
        TERM(15);

        final int number;

        Signal(int number) {
            this.number = number;
        }
    }

    /** An instance that receives no signals, only {@link #request}. */
    public Interruption() {
        this(true);
    }

    private Interruption(boolean handles) {
        this.handles = new AtomicBoolean(handles);
    }

    /**
     * An instance that receives the signals of this process once a command has registered. Until then a signal makes
     * the JVM end the process, with the same exit code. So commands that don't register need no handlers.
     */
    public static Interruption ofProcess() {
        return new Interruption(false);
    }

    private void handleSignals() {
        for (Signal signal : Signal.values()) {
            Runnable handler = () -> onSignal(128 + signal.number, System.nanoTime());
            Runnable other = onHangUp;
            if (signal == Signal.HUP && other != null) {
                // A command that SIGHUP does not end has it even under nohup, which ignores it for those that it would
                // end.
                Signals.handleAlways(signal.name(), signal.number, other);
            } else if (signal == Signal.HUP) {
                Signals.handle(signal.name(), handler);
            } else {
                Signals.handleAlways(signal.name(), signal.number, handler);
            }
        }
    }

    /** @param now {@code System.nanoTime()} */
    void onSignal(int exitCode, long now) {
        long before = lastSignal.getAndSet(now);
        if (before != Long.MIN_VALUE && now - before < ONE_WISH) {
            return;
        }
        request();
        if (endsAtOnce()) {
            try {
                runLast();
            } finally {
                halt(exitCode, atHalt);
            }
        } else if (requests.get() == 1) {
            // A sender of SIGTERM usually sends SIGKILL some seconds later. And the command may wait for a reader of
            // its output that no longer reads.
            Thread.ofPlatform().name("bpf4j-interrupted").daemon().start(() -> afterGrace(exitCode));
        }
    }

    private void afterGrace(int exitCode) {
        try {
            for (long end = System.nanoTime() + GRACE.toNanos(); System.nanoTime() < end; ) {
                boolean _ = isBlocked(); // from the first look on, time counts
                Thread.sleep(LOOK);
            }
            try {
                runLast();
            } finally {
                if (exitCode != 128 + Signal.INT.number) {
                    endWhenBlocked(exitCode);
                }
            }
        } catch (InterruptedException | RuntimeException e) {
            // The command ended meanwhile.
        }
    }

    private boolean isBlocked() {
        Output to = output;
        return to != null && to.console().isBlockedFor(GRACE);
    }

    /** Ends the process when nobody reads its output. Returns only by an interrupt: usually the command ends before. */
    private void endWhenBlocked(int exitCode) throws InterruptedException {
        while (!isBlocked()) {
            Thread.sleep(LOOK);
        }
        Output blocked = output;
        Runnable last = atHalt;
        try {
            runLast(); // what is necessary may have been registered meanwhile
        } finally {
            halt(exitCode, () -> {
                if (blocked != null) {
                    blocked.console()
                            .error("bpf4j: ended by a signal while nobody read standard output: "
                                    + blocked.lost().get());
                }
                run(last);
            });
        }
    }

    /**
     * Ends the process after this action, or without it if it takes too long. What must not outlive the process is ended
     * beside it: the action may wait for a full pipe. The kernel detaches what is attached.
     */
    private void halt(int exitCode, @Nullable Runnable action) {
        try {
            long end = System.nanoTime() + LAST_WORDS.toNanos();
            for (Thread each : List.of(last("bpf4j-companion", companion), last("bpf4j-last", action))) {
                boolean _ = each.join(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            Runtime.getRuntime().halt(exitCode);
        }
    }

    private static Thread last(String name, @Nullable Runnable action) {
        return Thread.ofPlatform().name(name).daemon().start(() -> run(action));
    }

    boolean endsAtOnce() {
        return requests.get() > (waits ? 2 : 1);
    }

    private void runLast() {
        run(last);
    }

    private static void run(@Nullable Runnable action) {
        if (action != null) {
            action.run();
        }
    }

    /** Whether the user wants the command to end. */
    public boolean requested() {
        return requests.get() > 0;
    }

    /** Whether the user wants the command to end without waiting until it has detached. */
    public boolean impatient() {
        return requests.get() > 1;
    }

    /** From now on the command asks {@link #impatient} again and again: a second signal ends its wait, not the process. */
    public void beginWait() {
        waits = true;
    }

    public void endWait() {
        waits = false;
    }

    /**
     * Registers that the running command ends by itself soon after {@code stop} is called, from another thread.
     *
     * @param stop wakes the command; it may be called when the command is already ending
     */
    public void onRequest(Runnable stop) {
        this.stop = stop;
        if (handles.compareAndSet(false, true)) {
            handleSignals();
        }
        if (requested()) {
            stop.run();
        }
    }

    /**
     * Registers an action that is necessary even if the command doesn't end. It runs two seconds after the first
     * signal, if the process still exists, and at the signal that ends the process, before that. It runs on other
     * threads, and may run twice.
     */
    public void beforeHalt(Runnable atLast) {
        last = atLast;
    }

    /**
     * Registers what ends something that must not outlive this process, such as a command that it has started. It runs on
     * another thread when a signal ends the process at once, and may take four seconds. If the process ends otherwise, it
     * is the caller's to do.
     */
    public void alsoEnds(Runnable end) {
        companion = end;
    }

    /** Registers the last action of a process that a signal ends at once. It runs on another thread. */
    public void atHalt(Runnable action) {
        atHalt = action;
    }

    /**
     * Registers where the command prints its answer: after SIGTERM or SIGHUP the process ends if its reader has taken
     * nothing for two seconds.
     *
     * @param lost what the output lacks then, as the end of a sentence; called on another thread
     */
    public void whenBlocked(Console console, Supplier<String> lost) {
        output = new Output(console, lost);
    }

    /**
     * SIGHUP will not end the command but run this on another thread, even if the command was started with the signal
     * ignored. Called before {@link #onRequest}.
     */
    public void onHangUp(Runnable action) {
        onHangUp = action;
    }

    /** Asks the command to end, as Ctrl-C does. */
    public void request() {
        requests.incrementAndGet();
        Runnable wake = stop;
        if (wake != null) {
            wake.run();
        }
    }
}
