package io.bpf4j.process.peer;

import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.kernel.Errno;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.locks.LockSupport;

/** A connection to another process, which may answer slowly, without end, or never. <i>Confined.</i> */
public final class PeerSocket implements AutoCloseable {
    private static final int CHUNK = 1 << 12;
    private static final long PAUSE_NANOS = 1_000_000;

    private final Kernel kernel;
    private final Fd fd;

    PeerSocket(Kernel kernel, Fd fd) {
        this.kernel = kernel;
        this.fd = fd;
    }

    /**
     * Sends a request of at most some kilobytes.
     *
     * @throws IOException if the socket does not accept all of it at once
     */
    public void send(byte[] request) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(ValueLayout.JAVA_BYTE, request);
            long sent = kernel.execute(new FileCommand.Write(fd, bytes));
            if (sent != request.length) {
                throw new IOException(fd.description() + " did not accept the whole request");
            }
        }
    }

    /**
     * Reads until the other end closes the connection.
     *
     * @param maxBytes further bytes are not read
     * @param deadline of {@code System.nanoTime()}
     * @throws IOException if the answer does not end in time
     */
    public byte[] receive(int maxBytes, long deadline) throws IOException {
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment chunk = arena.allocate(CHUNK);
            while (answer.size() < maxBytes) {
                long read = kernel.execute(new FileCommand.Read(fd, chunk));
                if (read == 0) {
                    return answer.toByteArray();
                }
                if (read > 0) {
                    answer.writeBytes(chunk.asSlice(0, read).toArray(ValueLayout.JAVA_BYTE));
                } else if (read != -Errno.EAGAIN.number()) {
                    throw new IOException(fd.description() + " was closed: " + Errno.describe((int) -read));
                } else {
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
                if (System.nanoTime() - deadline >= 0) {
                    throw new IOException(fd.description() + " did not answer in time");
                }
            }
        }
        return answer.toByteArray();
    }

    @Override
    public void close() {
        fd.close();
    }
}
