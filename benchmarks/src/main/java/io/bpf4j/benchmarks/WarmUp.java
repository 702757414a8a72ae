package io.bpf4j.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Runs work thousands of times before it is measured, so that the JVM has compiled it as in a long-lived agent.
 *
 * <p>JMH's own warm-up repeats a shot a hundred times, which leaves most of the code in the interpreter: HotSpot's quick
 * compiler takes a method after 200 calls, the optimizing one after 5,000. More shots would take minutes, because each
 * attach and detach waits for a grace period of the kernel. Several threads wait for the same grace period, so they get
 * through as many rounds in seconds.
 *
 * <p>{@value #PROPERTY} has the duration in milliseconds; 0 or no value turns the warm-up off.
 */
final class WarmUp {
    static final String PROPERTY = "bpf4j.benchmarks.warmUp";

    private WarmUp() {}

    /** Work that can run in many threads at once and undoes what it does. */
    interface Work {
        void run() throws Exception;
    }

    /**
     * Repeats the work.
     *
     * @param threads how many do so at once: one for work that only computes, since they would take the CPUs from the
     *     compilers
     * @throws IllegalStateException if the work fails
     */
    static void with(int threads, Work work) {
        long end = System.nanoTime() + Long.getLong(PROPERTY, 0) * 1_000_000;
        List<Future<Void>> all = new ArrayList<>();
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            for (int i = 0; i < threads; i++) {
                all.add(pool.submit(() -> {
                    while (System.nanoTime() < end) {
                        work.run();
                    }
                    return null;
                }));
            }
        }
        for (Future<Void> each : all) {
            try {
                each.get();
            } catch (ExecutionException e) {
                throw new IllegalStateException("the warm-up failed", e.getCause());
            } catch (InterruptedException e) {
                throw new IllegalStateException("interrupted during the warm-up", e);
            }
        }
    }
}
