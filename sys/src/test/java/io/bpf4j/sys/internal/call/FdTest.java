package io.bpf4j.sys.internal.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class FdTest {
    private final ScriptedKernel kernel = new ScriptedKernel();

    @Test
    void closeGivesTheNumberBackOnce() {
        Fd fd = kernel.newFd("map \"x\"");
        fd.close();
        fd.close();
        assertThat(kernel.commands(FileCommand.Close.class)).hasSize(1);
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void closeWaitsForTheCallInFlight() {
        Fd fd = kernel.newFd("map \"x\"");
        fd.hold();
        fd.hold();
        fd.close();
        assertThat(kernel.open()).as("two calls use it").hasSize(1);
        fd.release();
        assertThat(kernel.open()).as("one call uses it").hasSize(1);
        fd.release();
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void nothingStartsOnAClosedDescriptor() {
        Fd fd = kernel.newFd("map \"x\"");
        fd.hold();
        fd.close();
        assertThatThrownBy(fd::hold).isInstanceOf(IllegalStateException.class).hasMessage("map \"x\" is closed");
        assertThatThrownBy(fd::number).isInstanceOf(IllegalStateException.class);
        fd.release();
        assertThat(fd.isClosed()).isTrue();
    }

    @Test
    void aNumberIsNeverGivenBackWhileAThreadHoldsIt() throws InterruptedException {
        for (int round = 0; round < 200; round++) {
            AtomicInteger holding = new AtomicInteger();
            AtomicInteger closedWhileHeld = new AtomicInteger();
            Kernel counting = new Kernel() {
                @Override
                @SuppressWarnings("unchecked")
                public <R> R execute(Command<R> command) {
                    if (holding.get() != 0) {
                        closedWhileHeld.incrementAndGet();
                    }
                    return (R) Integer.valueOf(0);
                }
            };
            Fd fd = Fd.of(counting, 7, "file");
            CountDownLatch start = new CountDownLatch(1);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        start.await();
                        while (true) {
                            fd.hold();
                            holding.incrementAndGet();
                            holding.decrementAndGet();
                            fd.release();
                        }
                    } catch (IllegalStateException e) {
                        // Closed: done.
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                }));
            }
            start.countDown();
            fd.close();
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(closedWhileHeld).hasValue(0);
        }
    }

    @Test
    @Timeout(600) // against a hang: a collection takes its time on a busy machine
    void whatNobodyClosesIsCaughtAndReportedWithItsStack() throws InterruptedException {
        AtomicInteger closed = new AtomicInteger();
        Kernel kernelThatForgets = new Kernel() {
            @Override
            @SuppressWarnings("unchecked")
            public <R> R execute(Command<R> command) {
                closed.incrementAndGet();
                return (R) Integer.valueOf(0);
            }
        };
        leak(kernelThatForgets);
        assertThat(awaitLeaks()).singleElement().satisfies(leak -> {
            assertThat(leak.allocation()).isNotNull();
            assertThat(leak.allocation().getStackTrace())
                    .anyMatch(frame -> frame.getMethodName().equals("leak"));
        });
        assertThat(closed).hasValue(1);
    }

    /** Until the collector has found it. Other tests of this JVM may have forgotten something, too. */
    private static List<LeakDetector.Leak> awaitLeaks() throws InterruptedException {
        List<LeakDetector.Leak> leaks = new ArrayList<>();
        while (leaks.isEmpty()) {
            System.gc();
            Thread.sleep(20);
            LeakDetector.drain().stream()
                    .filter(leak -> leak.description().equals("forgotten"))
                    .forEach(leaks::add);
        }
        return leaks;
    }

    private static void leak(Kernel kernel) {
        Fd fd = Fd.of(kernel, 7, "forgotten");
        assertThat(fd.isClosed()).isFalse();
    }
}
