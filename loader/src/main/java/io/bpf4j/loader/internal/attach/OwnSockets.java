package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.Socket;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.SocketCommand;
import io.bpf4j.sys.internal.call.SocketCommand.Describe.Ends;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.NetworkChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Finds sockets of this process among its descriptors. A socket is identified by its inode, the number in the name
 * {@code socket:[NUMBER]} that {@code /proc/self/fd} has for each descriptor. Unlike the number of a descriptor, it
 * belongs to one socket as long as that exists. Java may close a descriptor at any time, and another file may get its
 * number; so each descriptor is duplicated before it is examined.
 *
 * <p>Tested by {@code SocketProgramsOnKernelTest}.
 */
final class OwnSockets {
    private static final String PREFIX = "socket:[";
    private static final int STREAM = 1;
    private static final int DATAGRAM = 2;

    private final Host host;
    private final Kernel kernel;

    OwnSockets(Host host) {
        this.host = host;
        this.kernel = Kernel.of(host);
    }

    /** The inode of a target's socket, by its name. */
    String nameOf(Socket target) {
        return target.channel()
                .map(channel -> nameOf(channel, target.isReuseport()))
                .orElseGet(() -> nameOf(target.descriptor()));
    }

    private String nameOf(int descriptor) {
        if (descriptor < 0) {
            throw new BpfException("descriptor " + descriptor + " is negative");
        }
        try (Fd fd = duplicate(descriptor)) {
            String name = kernel.execute(new FileCommand.NameOf(fd));
            if (!name.startsWith(PREFIX)) {
                throw new BpfException("descriptor " + descriptor + " is not a socket, but " + name);
            }
            return name;
        }
    }

    private String nameOf(NetworkChannel channel, boolean anyOfPort) {
        Wanted wanted = Wanted.of(channel);
        Map<String, Ends> found = new LinkedHashMap<>();
        forEach(_ -> true, (name, fd) -> {
            Ends ends = kernel.execute(new SocketCommand.Describe(fd));
            if (wanted.matches(ends)) {
                found.put(name, ends);
            }
            return true;
        });
        boolean isOneGroup = anyOfPort
                && found.values().stream().allMatch(Ends::sharesPort)
                && found.values().stream().map(Ends::family).distinct().count() == 1;
        if (found.isEmpty() || (found.size() > 1 && !isOneGroup)) {
            throw new BpfException(
                    found.isEmpty()
                            ? "no descriptor of this process is the socket of " + channel
                            : found.size() + " sockets of this process have the addresses of " + channel
                                    + ", and can't be distinguished; give the descriptor, or attach before the"
                                    + " others are bound");
        }
        return found.keySet().iterator().next();
    }

    /** The type and the addresses of a channel's socket. */
    private record Wanted(
            int type, InetSocketAddress local, @Nullable InetSocketAddress remote) {
        static Wanted of(NetworkChannel channel) {
            try {
                SocketAddress remote = switch (channel) {
                    case SocketChannel socket -> socket.getRemoteAddress();
                    case DatagramChannel socket -> socket.getRemoteAddress();
                    case AsynchronousSocketChannel socket -> socket.getRemoteAddress();
                    default -> null;
                };
                if (!(channel.getLocalAddress() instanceof InetSocketAddress local)) {
                    throw new BpfException(channel + " is not bound to an address of IPv4 or IPv6");
                }
                int type = channel instanceof DatagramChannel ? DATAGRAM : STREAM;
                return new Wanted(type, local, remote instanceof InetSocketAddress other ? other : null);
            } catch (IOException e) {
                throw new BpfException("the address of " + channel + " can't be read: " + e, e);
            }
        }

        boolean matches(Ends ends) {
            return ends.type() == type
                    && ends.local().filter(address -> equal(address, local)).isPresent()
                    && (remote == null
                            ? ends.remote().isEmpty()
                            : ends.remote()
                                    .filter(address -> equal(address, remote))
                                    .isPresent());
        }

        /** Scopes are not compared; the addresses for "any" of IPv4 and IPv6 are equal, as in Java's channels. */
        private static boolean equal(InetSocketAddress one, InetSocketAddress other) {
            return one.getPort() == other.getPort()
                    && (Arrays.equals(
                                    one.getAddress().getAddress(),
                                    other.getAddress().getAddress())
                            || (one.getAddress().isAnyLocalAddress()
                                    && other.getAddress().isAnyLocalAddress()));
        }
    }

    /** A descriptor of a socket, for the caller to close; empty if the process has none. */
    Optional<Fd> open(String socketName) {
        Fd[] found = new Fd[1];
        forEach(socketName::equals, (_, fd) -> {
            found[0] = fd.duplicate(kernel);
            return false;
        });
        return Optional.ofNullable(found[0]);
    }

    /** Handles a socket; returns false to end the search. */
    private interface Visitor {
        boolean visit(String name, Fd fd);
    }

    private void forEach(Predicate<String> names, Visitor visitor) {
        try (DirectoryStream<Path> descriptors =
                Files.newDirectoryStream(host.self().resolve("fd"))) {
            for (Path path : descriptors) {
                if (!visit(path, names, visitor)) {
                    return;
                }
            }
        } catch (IOException e) {
            throw new BpfException("the descriptors of this process can't be listed: " + e, e);
        }
    }

    private boolean visit(Path path, Predicate<String> names, Visitor visitor) {
        if (!isSocket(path)) {
            return true;
        }
        try (Fd fd = duplicate(Integer.parseInt(path.getFileName().toString()))) {
            String name = kernel.execute(new FileCommand.NameOf(fd));
            return !name.startsWith(PREFIX) || !names.test(name) || visitor.visit(name, fd);
        } catch (SyscallException e) {
            if (e.errno() == Errno.EBADF) {
                return true; // closed meanwhile
            }
            throw e;
        }
    }

    /** Checked before the descriptor is duplicated, because most descriptors are not sockets. */
    private static boolean isSocket(Path path) {
        try {
            return Files.readSymbolicLink(path).toString().startsWith(PREFIX);
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }

    private Fd duplicate(int number) {
        return kernel.execute(new FileCommand.Duplicate(number, "socket of descriptor " + number));
    }
}
