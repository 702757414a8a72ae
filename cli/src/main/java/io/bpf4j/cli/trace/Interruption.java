package io.bpf4j.cli.trace;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Turns Ctrl-C and SIGTERM into an orderly end of a command that says it can end in an orderly way.
 *
 * <p>The JVM meets SIGINT, SIGTERM and SIGHUP by starting its shutdown hooks and exiting with 128 plus the signal's
 * number when the last hook returns. Our hook asks the command to stop, waits until the main thread has detached,
 * printed its summary and handed over its exit code, and then ends the process with that code. Two things make this
 * delicate: {@code System.exit} called by the main thread while hooks run blocks for ever, so {@link #exit} parks
 * there on purpose; and the hook must end the process by {@code halt}, because a hook can't change the exit code in any
 * other way. ({@code sun.misc.Signal} would be shorter, and is no supported API.)
 *
 * <p>A command that registers nothing, such as {@code list}, is ended at once with the JVM's usual code.
 * <i>Thread-safe.</i>
 */
public final class Interruption {
    /** A close that waits for per-site uprobes can take long; past this the kernel is left to detach by itself. */
    private static final long PATIENCE_SECONDS = 20;

    private final CountDownLatch finished = new CountDownLatch(1);
    private volatile boolean requested;
    private volatile int exitCode;
    private volatile @Nullable Runnable stop;

    /** One that the signals of this process reach. */
    public static Interruption ofProcess() {
        Interruption interruption = new Interruption();
        Runtime.getRuntime().addShutdownHook(new Thread(interruption::onShutdown, "bpf4j-shutdown"));
        return interruption;
    }

    /** Whether the person wants the command to end. */
    public boolean requested() {
        return requested;
    }

    /**
     * Says that the running command ends by itself soon after {@code stop} is called, from another thread.
     *
     * @param stop wakes the command; it may be called when the command is already ending
     */
    public void onRequest(Runnable stop) {
        this.stop = stop;
        if (requested) {
            stop.run();
        }
    }

    /** Asks the command to end, as Ctrl-C does. */
    public void request() {
        requested = true;
        Runnable wake = stop;
        if (wake != null) {
            wake.run();
        }
    }

    /** Ends the process with this code, whether a signal is ending it already or not. */
    public void exit(int code) {
        exitCode = code;
        finished.countDown();
        System.exit(code);
    }

    private void onShutdown() {
        if (finished.getCount() == 0 || stop == null) {
            return;
        }
        request();
        try {
            if (finished.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                Runtime.getRuntime().halt(exitCode);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
