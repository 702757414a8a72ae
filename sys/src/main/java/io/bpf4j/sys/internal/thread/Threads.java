package io.bpf4j.sys.internal.thread;

/**
 * Waits for threads.
 *
 * <p>Tested by {@code ThreadsTest}.
 */
public final class Threads {
    private Threads() {}

    /**
     * Waits for the end of a thread. An interrupt does not end the wait, and the caller's interrupt flag stays set:
     * what the thread works with is freed afterwards. Returns at once if the thread was not started.
     */
    public static void join(Thread thread) {
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
    }
}
