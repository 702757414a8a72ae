package io.bpf4j.test.fuzz;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/**
 * What a run has cost its thread. <i>Immutable.</i>
 *
 * @param steps blocks of code that ran ({@link Coverage}); 0 if the code is not instrumented
 * @param bytes of memory that were allocated, freed or not
 */
record Work(long steps, long bytes) {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Reads an input, within the steps that the target allows for it. What it throws is passed on. */
    static Work of(FuzzTarget target, byte[] input) throws Exception {
        // The target may change its input.
        byte[] copy = input.clone();
        Coverage.begin(target.limits().stepsFor(input.length));
        long steps;
        long before = THREADS.getCurrentThreadAllocatedBytes();
        long after;
        try {
            target.read(copy);
        } finally {
            after = THREADS.getCurrentThreadAllocatedBytes();
            steps = Coverage.end();
        }
        return new Work(steps, after - before);
    }

    /**
     * Like {@link #of}, and checks the memory. The first run of some code links and loads it, so what takes too much is
     * read once more.
     */
    static Work checked(FuzzTarget target, byte[] input) throws Exception {
        Work work = of(target, input);
        long most = target.limits().bytesFor(input.length);
        if (work.bytes > most) {
            work = of(target, input);
        }
        if (work.bytes > most) {
            throw new TooMuchMemory(
                    work.bytes + " bytes of memory for an input of " + input.length + " bytes, more than " + most);
        }
        return work;
    }

    /** A run allocates more memory than its input explains. */
    static final class TooMuchMemory extends AssertionError {
        private static final long serialVersionUID = 1L;

        TooMuchMemory(String message) {
            super(message);
        }
    }
}
