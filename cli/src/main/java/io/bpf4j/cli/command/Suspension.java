package io.bpf4j.cli.command;

import java.util.Optional;

/**
 * The state of a question of the agent: suspended, to be resumed, or to end. <i>Thread-safe</i>: only {@link
 * #awaitTurn} waits, so suspending a question does not wait for those who read its metrics.
 *
 * <p>Tested by {@code SuspensionTest}.
 */
final class Suspension {
    /** Why the question is suspended, or about to be; empty if it counts. */
    private Optional<String> why = Optional.empty();

    private boolean resuming;
    private boolean stopping;

    /** Suspends the question. Returns false, and does nothing, if it is suspended already, or is to end. */
    synchronized boolean begin(String reason) {
        if (why.isPresent() || stopping) {
            return false;
        }
        why = Optional.of(reason);
        return true;
    }

    synchronized Optional<String> why() {
        return why;
    }

    /** Resumes a suspended question. */
    synchronized void resume() {
        if (why.isPresent()) {
            resuming = true;
            notifyAll();
        }
    }

    /** Notes that the question counts. Returns whether it was suspended until now. */
    synchronized boolean counts() {
        if (!resuming) {
            return false;
        }
        resuming = false;
        why = Optional.empty();
        return true;
    }

    /** Notes that the question is to end for good. */
    synchronized void stop() {
        stopping = true;
        notifyAll();
    }

    synchronized boolean isStopping() {
        return stopping;
    }

    /**
     * Waits while the question is suspended. An interrupt does not end the wait; the thread stays interrupted.
     *
     * @return whether it is to start again; false if it is to end, or was not suspended
     */
    synchronized boolean awaitTurn() {
        boolean interrupted = false;
        while (why.isPresent() && !resuming && !stopping) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return why.isPresent() && !stopping;
    }

    /**
     * Ends a run of the question.
     *
     * @param keep keeps the counts of a suspended question, and notes that events are missing from now on. It runs
     *     first, because the answer must not look exact when events are no longer counted. It may wait for a concurrent
     *     read of the metrics
     * @param stopCounting stops the counting
     */
    void end(Runnable keep, Runnable stopCounting) {
        if (why().isPresent()) {
            keep.run();
        }
        stopCounting.run();
    }
}
