package io.bpf4j.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600) // for what hangs
class SuspensionTest {
    private static final String DEAR = "too expensive";

    private final Suspension suspension = new Suspension();

    /** Waits for its turn on another thread, which is waiting when this returns. */
    private CompletableFuture<Boolean> waiting() throws InterruptedException {
        CompletableFuture<Boolean> turn = new CompletableFuture<>();
        awaitWaiting(Thread.ofPlatform().start(() -> turn.complete(suspension.awaitTurn())));
        return turn;
    }

    private static void awaitWaiting(Thread thread) throws InterruptedException {
        while (thread.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
    }

    private static void awaitNoted(Thread interrupted) throws InterruptedException {
        while (interrupted.isInterrupted()) {
            Thread.sleep(1);
        }
    }

    @Test
    void aQuestionThatCountsHasNoTurn() {
        suspension.resume();
        assertThat(suspension.counts()).as("it was not suspended").isFalse();
        assertThat(suspension.awaitTurn()).isFalse();
        assertThat(suspension.why()).isEmpty();
    }

    @Test
    void aSuspendedQuestionGoesOnWhenItCounts() throws InterruptedException {
        assertThat(suspension.begin(DEAR)).isTrue();
        assertThat(suspension.begin("another reason")).isFalse();
        assertThat(suspension.why()).hasValue(DEAR);
        assertThat(suspension.counts()).as("nobody has let it go on").isFalse();
        CompletableFuture<Boolean> turn = waiting();
        suspension.resume();
        assertThat(turn.join()).isTrue();
        assertThat(suspension.why()).as("it is attached first").hasValue(DEAR);
        assertThat(suspension.counts()).isTrue();
        assertThat(suspension.why()).isEmpty();
        assertThat(suspension.counts()).isFalse();
        assertThat(suspension.begin(DEAR)).as("once more").isTrue();
    }

    /** SIGHUP may come while the question is being detached. */
    @Test
    void whoGoesOnAtOnceDoesNotWait() {
        assertThat(suspension.begin(DEAR)).isTrue();
        suspension.resume();
        assertThat(suspension.awaitTurn()).isTrue();
    }

    @Test
    void theEndComesBeforeTheTurn() throws InterruptedException {
        assertThat(suspension.begin(DEAR)).isTrue();
        CompletableFuture<Boolean> turn = waiting();
        suspension.stop();
        assertThat(turn.join()).isFalse();
        suspension.resume();
        assertThat(suspension.awaitTurn()).isFalse();
        assertThat(suspension.isStopping()).isTrue();
    }

    @Test
    void whatIsToEndIsNotSuspended() {
        suspension.stop();
        assertThat(suspension.begin(DEAR)).isFalse();
        assertThat(suspension.why()).isEmpty();
    }

    @Test
    void anInterruptEndsNoWait() throws InterruptedException {
        assertThat(suspension.begin(DEAR)).isTrue();
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            boolean turn = suspension.awaitTurn();
            interrupted.complete(turn && Thread.currentThread().isInterrupted());
        });
        awaitWaiting(thread);
        thread.interrupt();
        awaitNoted(thread);
        awaitWaiting(thread);
        assertThat(interrupted).isNotDone();
        suspension.resume();
        assertThat(interrupted.join()).isTrue();
    }

    /** A reader must not find an answer exact that does not count. */
    @Test
    void theEventsAreKeptBeforeTheCountingEnds() {
        List<String> order = new ArrayList<>();
        suspension.end(() -> order.add("keep"), () -> order.add("stop"));
        assertThat(order).as("nothing is kept of what is not suspended").containsExactly("stop");
        assertThat(suspension.begin(DEAR)).isTrue();
        suspension.end(() -> order.add("keep"), () -> order.add("stop again"));
        assertThat(order).containsExactly("stop", "keep", "stop again");
    }

    /** Who looks after the budget has other questions to suspend. */
    @Test
    void aSlowReaderHoldsUpNobodyElse() throws InterruptedException {
        CountDownLatch read = new CountDownLatch(1);
        CompletableFuture<Void> kept = new CompletableFuture<>();
        assertThat(suspension.begin(DEAR)).isTrue();
        Thread question = Thread.ofPlatform().start(() -> {
            suspension.end(
                    () -> {
                        try {
                            read.await();
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    () -> {});
            kept.complete(null);
        });
        awaitWaiting(question);
        assertThat(suspension.begin(DEAR)).isFalse();
        assertThat(suspension.why()).hasValue(DEAR);
        suspension.resume();
        suspension.stop();
        assertThat(kept).isNotDone();
        read.countDown();
        assertThat(kept.join()).isNull();
    }
}
