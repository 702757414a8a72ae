package io.bpf4j.sys.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60) // against a hang
class ThreadsTest {
    @Test
    void anInterruptEndsNoWaitAndIsKept() throws Exception {
        CompletableFuture<Boolean> end = new CompletableFuture<>();
        Thread awaited = Thread.ofPlatform().start(end::join);
        FutureTask<String> wait = new FutureTask<>(() -> {
            Thread.currentThread().interrupt();
            Threads.join(awaited);
            return "alive: " + awaited.isAlive() + ", interrupted: " + Thread.interrupted();
        });
        Thread waiting = Thread.ofPlatform().start(wait);
        awaitState(waiting, Thread.State.WAITING);
        waiting.interrupt();
        end.complete(true);
        assertThat(wait.get()).isEqualTo("alive: false, interrupted: true");
    }

    private static void awaitState(Thread thread, Thread.State state) {
        while (thread.getState() != state) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aThreadThatWasNotStartedIsNotWaitedFor() {
        Threads.join(Thread.ofPlatform().unstarted(() -> {}));
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }
}
