package io.bpf4j.loader.internal.sys;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Makes system calls that may sleep in the kernel without holding a carrier of virtual threads. <i>Thread-safe.</i>
 *
 * <p>A virtual thread runs on one of a few platform threads, its carrier; there is one for each processor. When Java code
 * waits, for a lock or a socket, the carrier turns to another virtual thread meanwhile. In a native call it can't: the
 * native stack is the carrier's own. Nor does the JVM start another carrier in its place, as it does for reads of files.
 * So as many virtual threads as there are processors, each in epoll_wait, stop all others (seen on JDK 25).
 *
 * <p>Here a platform thread of a pool makes the call, and the virtual thread waits for it as Java code does. As many threads
 * of the pool are busy as calls sleep at the moment; one without work ends after some seconds. Handing over costs about
 * ten microseconds, so only calls that sleep go this way: waiting for events; attaching and detaching, which wait until no
 * processor runs what was there before (RCU); and closing, which may detach. Calls that are work, such as loading a
 * program, keep the carrier as any work does. A platform thread makes each call itself.
 */
final class OffCarrier {
    private static final int IDLE_SECONDS = 5;

    private OffCarrier() {}

    /** Made when first needed: most programs have no virtual threads. */
    private static final class Pool {
        static final Executor THREADS = new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                Thread.ofPlatform()
                        .name("bpf4j-wait-", 1)
                        .daemon()
                        .inheritInheritableThreadLocals(false)
                        .factory());
    }

    /**
     * Gives what the call gives. An interrupt does not end it, and the thread's flag stays set: the call uses memory that
     * the caller gives back afterwards.
     */
    static long call(LongSupplier call) {
        if (!Thread.currentThread().isVirtual()) {
            return call.getAsLong();
        }
        CompletableFuture<Long> result = new CompletableFuture<>();
        try {
            Pool.THREADS.execute(() -> complete(result, call));
        } catch (OutOfMemoryError e) {
            // No thread to be had, by a limit of the process for instance: slow, but a descriptor must not stay open.
            return call.getAsLong();
        }
        try {
            return result.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) e.getCause(); // there is no other kind that the call may throw
        }
    }

    @SuppressWarnings("CatchThrowable") // whatever it is, the caller must learn of it
    private static void complete(CompletableFuture<Long> result, LongSupplier call) {
        try {
            result.complete(call.getAsLong());
        } catch (Throwable t) {
            result.completeExceptionally(t);
        }
    }
}
