package io.bpf4j.test.support;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Waits for a state that can be observed: a line, a file, a process that has ended, a mount that is gone. No other class
 * of the integration tests sleeps, and none waits for a time instead of a state.
 *
 * <p>The bound ends a test that would wait forever. It is far above what a busy machine takes, so that it decides
 * nothing else.
 */
public final class Await {
    private static final long BOUND_SECONDS = Patience.scaled(180);
    private static final long BETWEEN_LOOKS_MILLIS = 10;

    private Await() {}

    /** A state that holds or not. */
    @FunctionalInterface
    public interface Condition {
        boolean holds() throws IOException, InterruptedException;
    }

    /** Something that is looked at again and again. */
    @FunctionalInterface
    public interface Look<T> {
        T look() throws IOException, InterruptedException;
    }

    /**
     * Returns once the condition holds.
     *
     * @param state what is awaited, for the message of the failure: {@code "process 4711 has ended"}
     */
    public static void until(String state, Condition condition) throws IOException, InterruptedException {
        until(state, condition::holds, holds -> holds);
    }

    /**
     * Looks until what is seen is as wanted, and returns it. If that never happens, the failure has what was seen last.
     *
     * @param state what is awaited, for the message of the failure: {@code "a screen with three rows"}
     */
    public static <T> T until(String state, Look<T> look, Predicate<T> wanted)
            throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND_SECONDS);
        while (true) {
            // Before the look: the last look is made after the bound, however long the machine took for it.
            boolean last = System.nanoTime() - deadline >= 0;
            T seen = look.look();
            if (wanted.test(seen)) {
                return seen;
            }
            if (last) {
                throw new AssertionError("not within " + BOUND_SECONDS + " s: " + state + "; seen last: " + seen);
            }
            Thread.sleep(BETWEEN_LOOKS_MILLIS);
        }
    }
}
