package org.example;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Passes descriptors between processes by SCM_RIGHTS (unix(7)), which the channels of the JDK can't: by calls of the C
 * library. The numbers and layouts are those of 64-bit Linux with glibc.
 */
final class UnixSocket implements AutoCloseable {
    private static final int AF_UNIX = 1;
    private static final int SOCK_STREAM_CLOEXEC = 0x80001;
    private static final int SOL_SOCKET = 1;
    private static final int SCM_RIGHTS = 1;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int MSG_CMSG_CLOEXEC = 0x40000000;
    private static final int ADDRESS_BYTES = 110;

    /** struct cmsghdr with one descriptor; its length is without the padding at the end. */
    private static final int CONTROL_BYTES = 24;

    private static final int CONTROL_LENGTH = 20;

    private final int socket;

    private UnixSocket(int socket) {
        this.socket = socket;
    }

    /** Whoever may write to the file of the socket gets the descriptor: here, everybody. */
    static UnixSocket listen(String path) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            UnixSocket server = new UnixSocket(call("socket", AF_UNIX, SOCK_STREAM_CLOEXEC, 0));
            call("bind", server.socket, address(arena, path), ADDRESS_BYTES);
            call("listen", server.socket, 16);
            Files.setPosixFilePermissions(Path.of(path), PosixFilePermissions.fromString("rw-rw-rw-"));
            return server;
        }
    }

    /** Waits for the next process that connects. */
    void sendToNext(int descriptor) throws IOException {
        try (Arena arena = Arena.ofConfined();
                UnixSocket client = new UnixSocket(call("accept", socket, MemorySegment.NULL, MemorySegment.NULL))) {
            MemorySegment control = arena.allocate(CONTROL_BYTES, 8);
            control.set(JAVA_LONG, 0, CONTROL_LENGTH);
            control.set(JAVA_INT, 8, SOL_SOCKET);
            control.set(JAVA_INT, 12, SCM_RIGHTS);
            control.set(JAVA_INT, 16, descriptor);
            int _ = result("sendmsg", client.socket, message(arena, control), MSG_NOSIGNAL); // it may have gone
        }
    }

    static int receiveFrom(String path) throws IOException {
        try (Arena arena = Arena.ofConfined();
                UnixSocket client = new UnixSocket(call("socket", AF_UNIX, SOCK_STREAM_CLOEXEC, 0))) {
            call("connect", client.socket, address(arena, path), ADDRESS_BYTES);
            MemorySegment control = arena.allocate(CONTROL_BYTES, 8);
            int bytes = call("recvmsg", client.socket, message(arena, control), MSG_CMSG_CLOEXEC);
            if (bytes != 1
                    || control.get(JAVA_LONG, 0) != CONTROL_LENGTH
                    || control.get(JAVA_INT, 8) != SOL_SOCKET
                    || control.get(JAVA_INT, 12) != SCM_RIGHTS) {
                throw new IOException(path + " sent no descriptor");
            }
            return control.get(JAVA_INT, 16);
        }
    }

    /** struct sockaddr_un */
    private static MemorySegment address(Arena arena, String path) {
        MemorySegment address = arena.allocate(ADDRESS_BYTES, 8);
        address.set(JAVA_SHORT, 0, (short) AF_UNIX);
        address.setString(2, path);
        return address;
    }

    /** struct msghdr: one byte, since a message of a stream can't be empty, and the control message. */
    private static MemorySegment message(Arena arena, MemorySegment control) {
        MemorySegment vector = arena.allocate(16, 8); // struct iovec
        vector.set(ADDRESS, 0, arena.allocate(1));
        vector.set(JAVA_LONG, 8, 1);
        MemorySegment message = arena.allocate(56, 8);
        message.set(ADDRESS, 16, vector);
        message.set(JAVA_LONG, 24, 1);
        message.set(ADDRESS, 32, control);
        message.set(JAVA_LONG, 40, CONTROL_BYTES);
        return message;
    }

    private static int call(String function, Object... arguments) throws IOException {
        int result = result(function, arguments);
        if (result < 0) {
            throw new IOException(function + " failed");
        }
        return result;
    }

    /** The result of a function of the C library, with arguments that are ints or addresses. */
    @SuppressWarnings("restricted") // native calls of its own
    private static int result(String function, Object... arguments) {
        MemoryLayout[] types = new MemoryLayout[arguments.length];
        for (int i = 0; i < types.length; i++) {
            types[i] = arguments[i] instanceof Integer ? JAVA_INT : ADDRESS;
        }
        MethodHandle handle = Linker.nativeLinker()
                .downcallHandle(
                        Linker.nativeLinker().defaultLookup().findOrThrow(function),
                        FunctionDescriptor.of(JAVA_INT, types));
        try {
            return (int) handle.invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() throws IOException {
        call("close", socket);
    }
}
