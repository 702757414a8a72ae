package io.bpf4j.loader.ring;

import io.bpf4j.elf.internal.text.CString;
import io.bpf4j.loader.internal.tracefs.TraceFs;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.EpollEvent;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.kernel.Errno;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Reads {@code trace_pipe}, where {@code bpf_trace_printk} and {@code bpf_printk} of all programs of the machine write. For
 * programs of your own, {@code io.bpf4j.loader.ProgramLog} is better: it has levels, and no other's lines. Needs root. If
 * tracefs is not mounted it is opened without a mount (Linux 5.2).
 *
 * <p>A line is read once, by one reader of the machine. The kernel writes, for instance: {@code java-4711 [001] d..31
 * 1234.567890: bpf_trace_printk: text}. Names of processes in it have any characters.
 *
 * <p><i>Single consumer:</i> one thread at a time polls; {@link #wakeup} and {@link #close} may be called from any thread.
 * A virtual thread may poll. It must be closed.
 *
 * <p>Tested by {@code TracePipeOnKernelTest}.
 */
public final class TracePipe implements AutoCloseable {
    private static final int READ_BYTES = 1 << 16;

    /** The kernel's lines have at most a page; a line that never ends is cut. */
    private static final int MOST_LINE_BYTES = 1 << 16;

    private final Kernel kernel;
    private final Fd pipe;
    private final Waiter waiter;
    private final MemorySegment buffer = Arena.ofAuto().allocate(READ_BYTES, 8);
    private final ByteArrayOutputStream unfinished = new ByteArrayOutputStream();

    /** Held while polling: allows one consumer at a time, and makes close wait for it. */
    private final ReentrantLock consuming = new ReentrantLock();

    private volatile boolean closed;

    private TracePipe(Kernel kernel, Fd pipe, Waiter waiter) {
        this.kernel = kernel;
        this.pipe = pipe;
        this.waiter = waiter;
    }

    /** {@link #open(Host)} on the running machine. */
    public static TracePipe open() {
        return open(Host.running());
    }

    /**
     * Opens it.
     *
     * @throws io.bpf4j.sys.BpfException if tracefs is not accessible
     */
    public static TracePipe open(Host host) {
        Kernel kernel = Kernel.of(host);
        Waiter waiter = new Waiter(kernel, "trace_pipe");
        try {
            Fd pipe = waiter.owned().own(TraceFs.of(host).openPipe());
            waiter.watch(pipe, 0, EpollEvent.READABLE);
            return new TracePipe(kernel, pipe, waiter);
        } catch (RuntimeException | Error e) {
            waiter.owned().closeAfter(e);
            throw e;
        }
    }

    /**
     * Passes the lines that wait to the handler, without their newlines; if there are none, waits for some first. If a
     * handler throws, its line counts as read, and lines that were read with it are lost.
     *
     * @param timeout how long to wait at most; zero or less not at all
     * @return number of lines; 0 after the timeout, an interrupt of this thread, {@link #wakeup} or {@link #close}
     * @throws IllegalStateException if closed, or if another thread is polling
     */
    public int poll(Duration timeout, Consumer<? super String> handler) {
        if (consuming.isHeldByCurrentThread() || !consuming.tryLock()) {
            throw new IllegalStateException("trace_pipe is polled already; it has a single consumer");
        }
        try {
            if (closed) {
                throw new IllegalStateException("trace_pipe is closed");
            }
            long start = System.nanoTime();
            long limit = RecordReader.nanos(timeout);
            while (true) {
                int lines = readLines(handler);
                long left = limit - (System.nanoTime() - start);
                if (lines > 0 || left <= 0 || closed || waiter.await(left) == Waiter.WOKEN) {
                    return lines;
                }
            }
        } finally {
            if (closed) {
                waiter.owned().close();
            }
            consuming.unlock();
        }
    }

    /** Reads once, so that programs that never pause can't keep a poll from ending. */
    private int readLines(Consumer<? super String> handler) {
        long read = kernel.execute(new FileCommand.Read(pipe, buffer));
        if (read == -Errno.EAGAIN.number()) {
            return 0;
        }
        if (read < 0) {
            throw new SyscallException("read of trace_pipe", (int) -read, null);
        }
        int lines = 0;
        for (long i = 0; i < read; i++) {
            byte b = buffer.get(ValueLayout.JAVA_BYTE, i);
            if (b != '\n') {
                unfinished.write(b);
            }
            if (b == '\n' || unfinished.size() == MOST_LINE_BYTES) {
                String line = CString.exact(unfinished.toByteArray());
                unfinished.reset();
                lines++;
                handler.accept(line);
            }
        }
        return lines;
    }

    /** Ends the current wait of a poll at once, or else the next one. Does nothing after close. */
    public void wakeup() {
        waiter.wake();
    }

    /**
     * Releases it. A poll on another thread is woken; this waits until it returns. If a handler calls this, it takes
     * effect when that poll ends. A second call does nothing.
     */
    @Override
    public void close() {
        closed = true;
        if (consuming.isHeldByCurrentThread()) {
            return;
        }
        waiter.wake();
        consuming.lock();
        try {
            waiter.owned().close();
        } finally {
            consuming.unlock();
        }
    }
}
