package io.bpf4j.sys.internal.call;

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
 * <p>A virtual thread runs on one of a few platform threads, its carrier; there is one for each processor. While Java
 * code waits, for a lock or a socket, the carrier runs another virtual thread. In a native call this is not possible,
 * because the native stack belongs to the carrier. The JVM does not start a replacement carrier either, as it does for
 * reads of files. So if as many virtual threads as processors are in epoll_wait, they block all others (seen on JDK
 * 25).
 *
 * <p>So a platform thread of a pool makes the call, and the virtual thread waits for it in Java code. The pool uses one
 * thread per sleeping call; an idle thread ends after some seconds. The handover takes about ten microseconds, so it is
 * used only for calls that sleep: waiting for events; attaching and detaching, which wait for an RCU grace period; and
 * closing, which may detach. Calls that compute, such as loading a program, run on the carrier. A platform thread makes
 * each call itself.
 */
final class OffCarrier {
    private static final int IDLE_SECONDS = 5;

    private OffCarrier() {}

    /** Created when first needed: most programs have no virtual threads. */
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
     * Returns the result of the call. An interrupt does not end the call, and the thread's interrupt flag stays set:
     * the call uses memory that the caller frees afterwards.
     */
    static long call(LongSupplier call) {
        if (!Thread.currentThread().isVirtual()) {
            return call.getAsLong();
        }
        CompletableFuture<Long> result;
        try {
            result = CompletableFuture.supplyAsync(call::getAsLong, Pool.THREADS);
        } catch (OutOfMemoryError e) {
            // A thread can't be created, for example at a limit of the process: slow, but a file descriptor must not
            // stay open.
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
}
