package io.bpf4j.loader.internal.attach;

import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.Objects;

/**
 * The output of an iterator. <i>Confined.</i>
 *
 * <p>Tested by {@code KernelLinkTest} and {@code IteratorsOnKernelTest}.
 */
final class IterStream extends InputStream {
    /**
     * The kernel's own buffer of an iterator: 8 pages (bpf_iter_seq in kernel/bpf/bpf_iter.c), which a read empties.
     */
    private static final int CHUNK = 32 << 10;

    private final Kernel kernel;
    private final Fd fd;
    /** Freed with this object, not by {@link #close}, because another thread may call close while the kernel writes. */
    private final MemorySegment buffer = Arena.ofAuto().allocate(CHUNK);

    private int next;
    private int end;
    private boolean atEnd;

    /** Takes ownership of the descriptor. */
    IterStream(Kernel kernel, Fd fd) {
        this.kernel = kernel;
        this.fd = fd;
    }

    @Override
    public int read() throws IOException {
        return fill() ? Byte.toUnsignedInt(buffer.get(ValueLayout.JAVA_BYTE, next++)) : -1;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, into.length);
        if (length == 0) {
            return 0;
        }
        if (!fill()) {
            return -1;
        }
        int count = Math.min(length, end - next);
        MemorySegment.copy(buffer, ValueLayout.JAVA_BYTE, next, into, offset, count);
        next += count;
        return count;
    }

    @Override
    public int available() {
        return end - next;
    }

    /** Whether a byte is available. */
    private boolean fill() throws IOException {
        while (next == end && !atEnd) {
            long result;
            try {
                result = kernel.execute(new FileCommand.Read(fd, buffer));
            } catch (IllegalStateException e) {
                throw new IOException("the stream is closed", e);
            } finally {
                Reference.reachabilityFence(buffer);
            }
            if (result < 0 && result != -Errno.EAGAIN.number()) {
                throw new IOException("read of " + fd.description() + ": " + Errno.describe((int) -result));
            }
            // EAGAIN: the program visited a million objects and wrote nothing; the next read continues with the next
            // object.
            next = 0;
            end = (int) Math.max(0, result);
            atEnd = result == 0;
        }
        return next < end;
    }

    @Override
    public void close() {
        fd.close();
    }
}
