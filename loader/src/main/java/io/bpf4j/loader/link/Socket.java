package io.bpf4j.loader.link;

import java.nio.channels.NetworkChannel;
import java.util.Optional;

/**
 * A socket of this process, by a channel of Java or by a descriptor. The kernel has no link for it: closing the
 * returned link detaches, and so does the end of the socket, when no process has it open any more. A socket has one
 * filter: attaching replaces an existing filter, and detaching removes the current one, even if other code of this
 * process has attached another. The kernel does not report which program it is.
 *
 * <p>Java does not expose the descriptor of a channel. It is found among the descriptors of this process by its type
 * and the addresses of both ends. If several sockets have the same (such as servers that share a port by SO_REUSEPORT),
 * a filter is refused, and the message says so. Channels of UNIX sockets are refused, too. The descriptor is not kept,
 * so that closing the channel closes the socket.
 */
public sealed interface Socket extends AttachTarget {
    /**
     * The packets that a socket receives: the program returns how many bytes of a packet the socket gets, 0 for none
     * (SO_ATTACH_BPF, Linux 3.19); {@code SEC("socket")}.
     *
     * @param channel bound or connected
     */
    static Socket filter(NetworkChannel channel) {
        return new SocketData(Optional.of(channel), -1, false);
    }

    /** As {@link #filter(NetworkChannel)}; the descriptor still belongs to the caller. */
    static Socket filter(int descriptor) {
        return new SocketData(Optional.empty(), descriptor, false);
    }

    /**
     * The choice among the sockets that share a port by SO_REUSEPORT, all of them by one program
     * (SO_ATTACH_REUSEPORT_EBPF, Linux 4.5; detaching needs 5.3); {@code SEC("sk_reuseport")} (Linux 4.19), or
     * {@code SEC("socket")}, which returns the number of the socket in the order in which they were bound.
     *
     * @param channel one of them, bound with {@link java.net.StandardSocketOptions#SO_REUSEPORT}
     */
    static Socket reuseport(NetworkChannel channel) {
        return new SocketData(Optional.of(channel), -1, true);
    }

    /** As {@link #reuseport(NetworkChannel)}; the descriptor still belongs to the caller. */
    static Socket reuseport(int descriptor) {
        return new SocketData(Optional.empty(), descriptor, true);
    }

    /** Empty if it is given by a descriptor. */
    Optional<NetworkChannel> channel();

    /** -1 if it is given by a channel. */
    int descriptor();

    boolean isReuseport();
}

record SocketData(Optional<NetworkChannel> channel, int descriptor, boolean isReuseport) implements Socket {
    @Override
    public String description() {
        return (isReuseport ? "the reuseport group of " : "")
                + channel.map(known -> "the socket of " + known).orElse("the socket of descriptor " + descriptor);
    }
}
