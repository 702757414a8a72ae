package io.bpf4j.cli.command;

import java.util.Optional;

/**
 * Whether a question of the agent is suspended, is to go on, or is to end. <i>Thread-safe</i>: only {@link #awaitTurn}
 * waits, so whoever suspends a question is held up by none of its readers.
 *
 * <p>Tested by {@code SuspensionTest}.
 */
final class Suspension {
    /** Why it does not count for now, or will soon not do so; empty if it counts. */
    private Optional<String> why = Optional.empty();

    private boolean resuming;
    private boolean stopping;

    /** Suspends. Returns false, and does nothing, if the question is suspended already, or is to end. */
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

    /** Lets a suspended question go on. */
    synchronized void resume() {
        if (why.isPresent()) {
            resuming = true;
            notifyAll();
        }
    }

    /** The question counts. Returns whether it was suspended until now. */
    synchronized boolean counts() {
        if (!resuming) {
            return false;
        }
        resuming = false;
        why = Optional.empty();
        return true;
    }

    /** The question is to end, for good. */
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
     * @return whether it is to be asked again; false if it is to end, or was not suspended
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
     * Ends a time in which the question has counted.
     *
     * @param keep keeps the events of a suspended question, and notes that events are missing from now on. It comes
     *     first: no reader may find the answer exact when events are not counted any more. It may wait for a reader
     * @param stopCounting ends the counting
     */
    void end(Runnable keep, Runnable stopCounting) {
        if (why().isPresent()) {
            keep.run();
        }
        stopCounting.run();
    }
}
