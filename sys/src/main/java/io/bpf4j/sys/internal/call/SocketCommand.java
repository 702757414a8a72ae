package io.bpf4j.sys.internal.call;

import io.bpf4j.sys.kernel.Errno;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sockets of this process: their programs, and what tells which is which.
 *
 * <p>Tested by {@code SocketProgramsOnKernelTest}.
 */
public sealed interface SocketCommand<R> extends Command<R> {
    int SOL_SOCKET = 1;

    /**
     * setsockopt(2) of an option with an int, such as the number of a program's descriptor.
     *
     * @param program null if the value is 0
     */
    record SetProgram(
            Fd socket,
            int option,
            String optionName,
            @Nullable Fd program) implements SocketCommand<Integer> {
        /** include/uapi/asm-generic/socket.h; SO_DETACH_BPF is the same as SO_DETACH_FILTER. */
        public static final int SO_DETACH_BPF = 27;

        public static final int SO_ATTACH_BPF = 50;
        public static final int SO_ATTACH_REUSEPORT_EBPF = 52;

        /** Linux 5.3. */
        public static final int SO_DETACH_REUSEPORT_BPF = 68;

        @Override
        public Integer run(Call call) {
            return call.check(set(call, call.hold(socket), SOL_SOCKET, option, call.hold(program)));
        }
    }

    /** The result, or minus the error number. */
    static long set(Call call, int socket, int level, int option, int value) {
        MemorySegment number = call.allocateFrom(ValueLayout.JAVA_INT, value);
        return call.syscall(Syscall.SETSOCKOPT, socket, level, option, number.address(), Integer.BYTES, 0);
    }

    /** What a socket is, as far as Java's channels say it, too. */
    record Describe(Fd socket) implements SocketCommand<Describe.Ends> {
        private static final int SO_TYPE = 3;
        private static final int SO_REUSEPORT = 15;
        private static final int SO_DOMAIN = 39;
        private static final int AF_INET = 2;
        private static final int AF_INET6 = 10;

        /** struct sockaddr_in6 has 28 bytes. */
        private static final int ADDRESS_SIZE = 128;

        private static final int PORT = 2;
        private static final int IPV4 = 4;
        private static final int IPV6 = 8;

        /**
         * The ends of a socket of IPv4 or IPv6; IPv4 addresses that a socket of IPv6 has are such of IPv4.
         *
         * @param family 2 for IPv4, 10 for IPv6; other sockets have others
         * @param type 1 for a stream, 2 for datagrams; other sockets have others
         * @param sharesPort whether it was to share its port with others (SO_REUSEPORT)
         * @param local empty for a socket of another family
         * @param remote empty if it is not connected
         */
        public record Ends(
                int family,
                int type,
                boolean sharesPort,
                Optional<InetSocketAddress> local,
                Optional<InetSocketAddress> remote) {}

        @Override
        public Ends run(Call call) {
            int number = call.hold(socket);
            int family = option(call, number, SO_DOMAIN);
            // The error for a socket without an address is another one in each other family.
            boolean hasAddress = family == AF_INET || family == AF_INET6;
            return new Ends(
                    family,
                    option(call, number, SO_TYPE),
                    option(call, number, SO_REUSEPORT) != 0,
                    hasAddress ? address(call, Syscall.GETSOCKNAME, number) : Optional.empty(),
                    hasAddress ? address(call, Syscall.GETPEERNAME, number) : Optional.empty());
        }

        private static int option(Call call, int socket, int name) {
            MemorySegment value = call.allocate(Integer.BYTES, Integer.BYTES);
            MemorySegment size = call.allocateFrom(ValueLayout.JAVA_INT, Integer.BYTES);
            call.check(call.syscall(Syscall.GETSOCKOPT, socket, SOL_SOCKET, name, value.address(), size.address(), 0));
            return value.get(ValueLayout.JAVA_INT, 0);
        }

        private static Optional<InetSocketAddress> address(Call call, Syscall name, int socket) {
            MemorySegment address = call.allocate(ADDRESS_SIZE, Long.BYTES);
            MemorySegment size = call.allocateFrom(ValueLayout.JAVA_INT, ADDRESS_SIZE);
            long result = call.syscall(name, socket, address.address(), size.address());
            // EINVAL: the other end has closed the connection.
            if (result == -Errno.ENOTCONN.number() || result == -Errno.EINVAL.number()) {
                return Optional.empty();
            }
            call.check(result);
            return switch (address.get(ValueLayout.JAVA_SHORT, 0)) {
                case AF_INET -> Optional.of(address(address, address.asSlice(IPV4, 4)));
                case AF_INET6 -> Optional.of(address(address, address.asSlice(IPV6, 16)));
                default -> Optional.empty();
            };
        }

        private static InetSocketAddress address(MemorySegment socketAddress, MemorySegment bytes) {
            int port = Byte.toUnsignedInt(socketAddress.get(ValueLayout.JAVA_BYTE, PORT)) << 8
                    | Byte.toUnsignedInt(socketAddress.get(ValueLayout.JAVA_BYTE, PORT + 1));
            try {
                return new InetSocketAddress(InetAddress.getByAddress(bytes.toArray(ValueLayout.JAVA_BYTE)), port);
            } catch (UnknownHostException e) {
                throw new IllegalStateException(e); // 4 and 16 bytes are addresses
            }
        }
    }

    @Override
    default String call() {
        return switch (this) {
            case SetProgram set ->
                "setsockopt(" + set.optionName + ") of " + set.socket.description()
                        + (set.program == null ? "" : " with " + set.program.description());
            case Describe(Fd socket) -> "getsockname of " + socket.description();
        };
    }
}
