package io.bpf4j.cli.trace;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Turns Ctrl-C, SIGTERM and SIGHUP into an orderly end of a command that has registered for it.
 *
 * <p>The first signal asks the command to stop: it detaches, prints its answer and ends with its own exit code. The
 * second ends the process at once, whatever the command does: it may be reading symbols or writing a page, and nobody
 * wants that answer any more. There is one exception. Detaching may take minutes if the kernel has perf uprobes only; a
 * second signal meanwhile ends this wait, the answer is still printed, and the third signal ends the process. A command
 * that has not registered, such as {@code list}, is ended by the first signal. A process that a signal ends has the exit
 * code 128 plus the signal's number, as a shell expects. A command may take SIGHUP for something else. <i>Thread-safe.</i>
 */
public final class Interruption {
    /** The time that a command has to end by itself. */
    private static final Duration GRACE = Duration.ofSeconds(2);

    /** Signals within this time, in nanoseconds, are one request: timeout(1) signals its child and then its group. */
    private static final long ONE_WISH = 50_000_000;

    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicBoolean handles;
    private final AtomicLong lastSignal = new AtomicLong(Long.MIN_VALUE);
    private volatile boolean waits;
    private volatile @Nullable Runnable stop;
    private volatile @Nullable Runnable last;
    private volatile @Nullable Runnable atHalt;
    private volatile @Nullable Runnable onHangUp;

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
                run(atHalt);
            } finally {
                Runtime.getRuntime().halt(exitCode);
            }
        } else if (requests.get() == 1) {
            // A sender of SIGTERM usually sends SIGKILL some seconds later. And the command may wait for a reader of
            // its output that no longer reads.
            Thread.ofPlatform().name("bpf4j-interrupted").daemon().start(() -> {
                try {
                    Thread.sleep(GRACE);
                    runLast();
                } catch (InterruptedException | RuntimeException e) {
                    // The command ended meanwhile.
                }
            });
        }
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

    /** Registers the last action of a process that a signal ends at once. It runs on another thread. */
    public void atHalt(Runnable action) {
        atHalt = action;
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
