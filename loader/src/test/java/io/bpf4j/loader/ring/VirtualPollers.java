package io.bpf4j.loader.ring;

import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.Kernel;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;

/**
 * The main class of a JVM with few carriers: more virtual threads than that wait for events that never come, and
 * another one gets its work done. Prints {@code worked} then. The waits are ended by wake-ups, and the next ones by
 * interrupts. {@link VirtualThreadsTest} runs it.
 */
final class VirtualPollers {
    private static final int WORK = 1_000;

    private VirtualPollers() {}

    @SuppressWarnings("ThreadPriorityCheck") // yield() is the work: it takes a free carrier to go on
    public static void main(String[] arguments) throws InterruptedException {
        int pollers = Integer.parseInt(arguments[0]);
        List<RingBuffer> polls = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        ConcurrentLinkedQueue<String> ended = new ConcurrentLinkedQueue<>();
        CountDownLatch started = new CountDownLatch(pollers);
        for (int i = 0; i < pollers; i++) {
            Waiter waiter = new Waiter(Kernel.of(Host.running()), "ring buffer test");
            RingBuffer poll = new RingBuffer(List.of(), List.of(), waiter);
            polls.add(poll);
            threads.add(Thread.ofVirtual().start(() -> {
                started.countDown();
                int first = poll.poll(Duration.ofDays(1), (MemorySegment _) -> {});
                boolean before = Thread.currentThread().isInterrupted();
                int second = poll.poll(Duration.ofDays(1), (MemorySegment _) -> {});
                ended.add(first + " and " + second + " after " + poll.stats().waits() + " waits, interrupted " + before
                        + " and " + Thread.currentThread().isInterrupted());
            }));
        }
        // Without a carrier for each this is never over.
        Thread.ofVirtual()
                .start(() -> {
                    await(started);
                    for (int i = 0; i < WORK; i++) {
                        Thread.yield();
                    }
                    System.out.println("worked");
                })
                .join();

        awaitWaits(polls, 1);
        polls.forEach(RingBuffer::wakeup);
        awaitWaits(polls, 2);
        threads.forEach(Thread::interrupt);
        for (Thread thread : threads) {
            thread.join();
        }
        ended.forEach(System.out::println);
        polls.forEach(RingBuffer::close);
    }

    private static void awaitWaits(List<RingBuffer> polls, int number) {
        while (polls.stream().anyMatch(poll -> poll.stats().waits() < number)) {
            Thread.onSpinWait();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
