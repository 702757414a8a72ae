package io.bpf4j.loader.ring;

import io.bpf4j.loader.map.Codec;
import io.bpf4j.sys.internal.call.UndoStack;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Reads records in a thread of its own, until it is closed or the handler throws an exception. It owns the {@link
 * RecordReader}. <i>Thread-safe.</i>
 *
 * <pre>{@code
 * try (RecordLoop loop = RecordLoop.start(RingBuffer.open(map), codec, event -> System.out.println(event))) {
 *     loop.join();
 * }
 * }</pre>
 *
 * <p>The handler is called by the loop's thread, one record after the other, so a handler that waits holds back the next
 * records: they stay in the buffer, and when that is full, programs lose records. A {@link
 * java.util.concurrent.SubmissionPublisher} as the handler passes them to subscribers on other threads, and waits while
 * the buffer of a subscriber is full: {@code publisher::submit}.
 *
 * <p>If the handler throws an exception, the loop ends. {@link #join} or {@link #close} passes it on, whichever is
 * called first. If the handler interrupts its thread, the loop ends as if {@link #stop} were called.
 *
 * <p>The thread is a daemon. It does not keep the JVM running.
 *
 * <p>Tested by {@code RecordLoopTest}.
 */
public final class RecordLoop implements AutoCloseable {
    /** Only wake-ups end a wait; the length decides nothing. */
    private static final Duration WAIT = Duration.ofHours(1);

    private final RecordReader reader;
    private final Thread thread;
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private volatile boolean stopping;
    private boolean failureTaken;

    /** @param poll polls for at most so long */
    private RecordLoop(RecordReader reader, Consumer<Duration> poll) {
        this.reader = reader;
        this.thread = Thread.ofPlatform().name("bpf4j records").daemon().unstarted(() -> run(poll));
        try {
            thread.start();
        } catch (Error e) { // this process may start no more threads
            UndoStack.of(reader::close).closeAfter(e);
            throw e;
        }
    }

    /**
     * Starts to read.
     *
     * @param reader belongs to the loop from now on; nobody else may poll it or close it
     */
    public static RecordLoop start(RecordReader reader, RecordHandler handler) {
        return new RecordLoop(reader, timeout -> reader.poll(timeout, handler));
    }

    /**
     * {@link #start(RecordReader, RecordHandler)} with a Java value for each record. A record that is shorter than the
     * codec's type ends the loop, as an exception of the handler does.
     */
    public static <T> RecordLoop start(RecordReader reader, Codec<T> codec, Consumer<? super T> handler) {
        return new RecordLoop(reader, timeout -> reader.poll(timeout, codec, handler));
    }

    private void run(Consumer<Duration> poll) {
        try {
            while (!stopping && !thread.isInterrupted()) {
                poll.accept(WAIT);
            }
            if (!reader.isClosed()) { // by the handler
                // What was there when the loop was stopped: no more than the buffer holds, if programs go on writing.
                poll.accept(Duration.ZERO);
            }
            end.complete(null);
        } catch (Throwable failure) {
            end.completeExceptionally(failure);
        }
    }

    /**
     * Waits until the loop has ended: because it was {@linkplain #stop stopped}, or by an exception of the handler.
     *
     * @throws CompletionException with the handler's exception as its cause
     * @throws InterruptedException if this thread is interrupted; the loop goes on
     */
    public void join() throws InterruptedException {
        try {
            end.get();
        } catch (ExecutionException _) {
            throwFailure();
        }
    }

    /**
     * As {@link #join()}, but for a limited time.
     *
     * @return whether the loop has ended
     */
    public boolean join(Duration timeout) throws InterruptedException {
        try {
            end.get(RecordReader.nanos(timeout), TimeUnit.NANOSECONDS);
        } catch (TimeoutException _) {
            return false;
        } catch (ExecutionException _) {
            throwFailure();
        }
        return true;
    }

    /**
     * Ends the loop, and returns at once. Records that are in the buffer now still go to the handler. A handler may
     * call this method.
     */
    public void stop() {
        stopping = true;
        reader.wakeup();
    }

    /** The reader, for its statistics and {@link RecordReader#pendingBytes}. */
    public RecordReader reader() {
        return reader;
    }

    /**
     * Ends the loop, waits until the handler has had the records that are in the buffer, and closes the reader. To get
     * all records of programs, detach them before. If the handler calls this method, it does not wait. A second call
     * does nothing.
     *
     * <p>An interrupt does not end the wait; it stays set.
     *
     * @throws CompletionException with the handler's exception as its cause, unless {@link #join} has thrown it
     */
    @Override
    public void close() {
        stop();
        if (Thread.currentThread().equals(thread)) {
            reader.close();
            return;
        }
        try {
            end.exceptionally(_ -> null).join();
        } finally {
            reader.close();
        }
        if (end.isCompletedExceptionally()) {
            throwFailure();
        }
    }

    private synchronized void throwFailure() {
        if (!failureTaken) {
            failureTaken = true;
            throw new CompletionException(end.exceptionNow());
        }
    }
}
