package io.bpf4j.sys.internal.call;

import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.SyscallException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Requests to the kernel by netlink, family NETLINK_ROUTE: devices and traffic control.
 *
 * <p>Tested by {@code NetlinkOnKernelTest} and {@code NetlinkMessageTest}.
 */
public sealed interface NetlinkCommand<R> extends Command<R> {
    /**
     * A socket for requests. It stays in the network namespace of the thread that opens it. It is connected to the
     * kernel, so that no other process can send to it.
     */
    record Open() implements NetlinkCommand<Fd> {
        private static final int AF_NETLINK = 16;
        private static final int SOCK_RAW = 3;
        private static final int NETLINK_ROUTE = 0;
        private static final int SOL_NETLINK = 270;

        /** Without the request in the answer (Linux 4.3). */
        private static final int NETLINK_CAP_ACK = 10;

        /** With the reason of an error (Linux 4.12). */
        private static final int NETLINK_EXT_ACK = 11;

        /** struct sockaddr_nl: u16 family, padding, u32 port (0 is the kernel), u32 groups. */
        private static final int ADDRESS_SIZE = 12;

        @Override
        public Fd run(Call call) {
            int type = SOCK_RAW | OpenFlags.CLOEXEC;
            Fd socket = call.fd(call.syscall(Syscall.SOCKET, AF_NETLINK, type, NETLINK_ROUTE), "netlink socket");
            return socket.ownedBy(fd -> {
                int number = call.hold(fd);
                for (int option : new int[] {NETLINK_CAP_ACK, NETLINK_EXT_ACK}) {
                    // Without them the answers are longer, or have no reasons.
                    SocketCommand.set(call, number, SOL_NETLINK, option, 1);
                }
                MemorySegment kernel = call.allocate(ADDRESS_SIZE, Integer.BYTES);
                kernel.set(ValueLayout.JAVA_SHORT, 0, (short) AF_NETLINK);
                call.check(call.syscall(Syscall.CONNECT, number, kernel.address(), ADDRESS_SIZE));
                return fd;
            });
        }
    }

    /**
     * A request and all its answers. A socket takes one request at a time.
     *
     * @param description the request, for messages: {@code RTM_SETLINK of device eth0}
     * @param sequence differs from that of the socket's last request, so that answers of an earlier one are told apart
     * @param uses the descriptors whose numbers are in the request
     */
    record Exchange(Fd socket, String description, NetlinkMessage request, int sequence, List<Fd> uses)
            implements NetlinkCommand<List<NetlinkMessage>> {
        /** The kernel fills datagrams of a list up to 32 KiB, and a single answer with all of a device may be longer. */
        private static final int ROOM = 1 << 17;

        /** The maximum size of a list: a device may have thousands of filters. */
        private static final long MOST_BYTES = 64L << 20;

        @Override
        public List<NetlinkMessage> run(Call call) {
            int number = call.hold(socket);
            uses.forEach(call::hold);
            byte[] datagram = request.datagram(sequence);
            long message = Struct.bytes(call, datagram).address();
            MemorySegment answer = call.allocate(ROOM, Long.BYTES);
            // The kernel executes the request before the write returns, and may wait for other changes of the network.
            call.check(OffCarrier.call(
                    () -> Call.retryOnSignal(() -> call.syscall(Syscall.WRITE, number, message, datagram.length))));
            List<NetlinkMessage> answers = new ArrayList<>();
            long bytes = 0;
            while (bytes < MOST_BYTES) {
                int size = read(call, number, answer);
                bytes += size;
                if (addUntilEnd(call, answer.asSlice(0, size), answers)) {
                    // Only now, because the kernel begins no other list on this socket before this one is read.
                    if (answers.stream().anyMatch(NetlinkMessage::isInterrupted)) {
                        throw changed();
                    }
                    return List.copyOf(answers);
                }
            }
            throw new BpfException(call() + " failed: the list has more than " + MOST_BYTES + " bytes");
        }

        private int read(Call call, int number, MemorySegment answer) {
            long size = OffCarrier.call(() ->
                    Call.retryOnSignal(() -> call.syscall(Syscall.READ, number, answer.address(), answer.byteSize())));
            if (size > 0) {
                return (int) size;
            }
            // ENOBUFS: the kernel had no memory for the answer.
            String unknown = "its response can't be read, so it is unknown whether the kernel executed the request";
            throw size < 0
                    ? new SyscallException(call(), (int) -size, unknown)
                    : new BpfException(call() + " failed: " + unknown);
        }

        private BpfException changed() {
            return new BpfException(call() + " failed: the network was changed meanwhile; try again");
        }

        /** Adds the answers; true if there are no more. */
        private boolean addUntilEnd(Call call, MemorySegment datagram, List<NetlinkMessage> answers) {
            for (NetlinkMessage message : NetlinkMessage.in(datagram)) {
                if (message.sequence() != sequence || message.type() == NetlinkMessage.NOOP) {
                    continue;
                }
                if (message.type() == NetlinkMessage.OVERRUN) {
                    throw changed();
                }
                if (message.type() == NetlinkMessage.ERROR || message.type() == NetlinkMessage.DONE) {
                    if (message.errno() != 0) {
                        throw refused(call, message);
                    }
                    if (message.isInterrupted()) {
                        answers.add(message);
                    }
                    return true;
                }
                answers.add(message);
            }
            return false;
        }

        private SyscallException refused(Call call, NetlinkMessage error) {
            String reason = error.reason();
            return reason.isEmpty()
                    ? call.kernel().failure(this, error.errno())
                    : new SyscallException(call(), error.errno(), "the kernel's reason: " + reason.strip());
        }
    }

    @Override
    default String call() {
        return switch (this) {
            case Open _ -> "opening a netlink socket";
            case Exchange exchange -> exchange.description;
        };
    }
}
