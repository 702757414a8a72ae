package io.bpf4j.sys.internal.call;

import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Closes resources that their owner did not close, when the garbage collector finds the owner, and reports the leak. No
 * code may rely on it; a file descriptor leaks until the collector runs. <i>Thread-safe.</i>
 *
 * <p>With the system property {@value #PROPERTY} set to {@code true} each entry keeps the stack trace of its creation
 * for the report. Tests run with it, and fail on any report.
 *
 * <p>Tested by {@code FdTest}.
 */
public final class LeakDetector {
    static final String PROPERTY = "io.bpf4j.leaks";

    private static final boolean KEEP_STACKS = Boolean.getBoolean(PROPERTY);
    private static final Cleaner CLEANER = Cleaner.create();
    /** The name is documented in docs/embedding.md. */
    private static final System.Logger LOG = System.getLogger("io.bpf4j.sys");

    /** Bounded because tests drain it; production code only logs. */
    private static final ConcurrentLinkedQueue<Leak> LEAKS = new ConcurrentLinkedQueue<>();

    private LeakDetector() {}

    /**
     * A resource that was not closed.
     *
     * @param description a description of the resource
     * @param allocation the stack trace of its creation; null unless stacks are kept
     */
    public record Leak(String description, @Nullable Throwable allocation) {}

    /** The leaks since the last call; kept only if the property is set. */
    public static List<Leak> drain() {
        List<Leak> leaks = new ArrayList<>();
        for (Leak leak = LEAKS.poll(); leak != null; leak = LEAKS.poll()) {
            leaks.add(leak);
        }
        return leaks;
    }

    /**
     * Registers an owner.
     *
     * @param release must not refer to the owner, which would prevent its collection
     */
    static Entry watch(Object owner, String description, Runnable release) {
        Watched watched = new Watched(description, release);
        Cleaner.Cleanable cleanable = CLEANER.register(owner, watched);
        return () -> {
            watched.closed = true;
            cleanable.clean();
        };
    }

    /** The owner's handle to release its resource. */
    interface Entry {
        /** Releases, once. */
        void close();
    }

    /** Run once: by the owner, or by the cleaner if the owner is gone. */
    private static final class Watched implements Runnable {
        private final String description;
        private final Runnable release;
        private final @Nullable Throwable allocation;
        private volatile boolean closed;

        Watched(String description, Runnable release) {
            this.description = description;
            this.release = release;
            this.allocation = KEEP_STACKS ? new Throwable("allocated here: " + description) : null;
        }

        @Override
        public void run() {
            try {
                release.run();
            } finally {
                if (!closed) {
                    if (KEEP_STACKS) {
                        LEAKS.add(new Leak(description, allocation));
                    }
                    LOG.log(System.Logger.Level.WARNING, description + " was never closed", allocation);
                }
            }
        }
    }
}
