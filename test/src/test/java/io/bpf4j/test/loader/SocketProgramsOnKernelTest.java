package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.NET_NAMESPACES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.Socket;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.LibcCalls;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Programs of the sockets of Java's channels. */
@Requires({BPF, NET_NAMESPACES})
@ExtendWith(LeakCheck.class)
@Timeout(300)
@SuppressWarnings("try") // links are closed before the end of their block
class SocketProgramsOnKernelTest {
    private static BpfObject load(int passedBytes, String... programs) {
        return Bpf.load("network.bpf.o", loader -> {
            Arrays.stream(programs).forEach(name -> loader.program(name, p -> p.withAutoload(true)));
            return loader.global("passed_bytes", passedBytes);
        });
    }

    private static InetSocketAddress self(int port) throws IOException {
        return new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port);
    }

    private static DatagramChannel bound(int port, boolean shared) throws IOException {
        DatagramChannel channel = DatagramChannel.open(StandardProtocolFamily.INET);
        channel.setOption(StandardSocketOptions.SO_REUSEPORT, shared);
        channel.bind(self(port)).configureBlocking(false);
        return channel;
    }

    private static int port(DatagramChannel channel) throws IOException {
        return ((InetSocketAddress) channel.getLocalAddress()).getPort();
    }

    private static void send(int port) throws IOException {
        try (DatagramChannel sender = DatagramChannel.open(StandardProtocolFamily.INET)) {
            sender.send(ByteBuffer.wrap(new byte[] {1}), self(port));
        }
    }

    /** The number of datagrams that wait. A busy kernel hands one over a moment after it was sent. */
    private static int received(DatagramChannel... channels) throws IOException {
        int count = 0;
        for (DatagramChannel channel : channels) {
            while (channel.receive(ByteBuffer.allocate(16)) != null) {
                count++;
            }
        }
        return count;
    }

    /** So many datagrams come to these channels together. */
    private static void assertReceived(int expected, DatagramChannel... channels) throws Exception {
        int[] count = {0};
        Await.until(expected + " datagrams", () -> count[0] += received(channels), all -> all >= expected);
        assertThat(count[0]).isEqualTo(expected);
    }

    /** A program runs so many times: for each datagram, wherever that goes. */
    private static void assertRuns(BpfObject object, String counter, long expected) throws Exception {
        assertThat(Await.until(expected + " " + counter, () -> Bpf.u64(object, counter), runs -> runs >= expected))
                .isEqualTo(expected);
    }

    @Test
    void aFilterOfADatagramSocket() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = load(0, "filter");
                DatagramChannel channel = bound(0, false);
                DatagramChannel other = bound(0, false)) {
            Link link = object.program("filter").attach(Socket.filter(channel));
            send(port(channel));
            send(port(other));
            assertRuns(object, "filtered", 1);
            assertReceived(1, other);
            assertThat(received(channel)).isZero();
            link.close();
            send(port(channel));
            assertReceived(1, channel);
            link.close();
        }
    }

    /** Sockets of packets, of AF_XDP and of the kernel's cryptography do not tell both addresses. */
    @Test
    void socketsWithoutAddressesAreNoHindrance() throws Exception {
        int packets = LibcCalls.packetSocket();
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = load(0, "filter");
                DatagramChannel channel = bound(0, false)) {
            object.program("filter").attach(Socket.filter(channel)).close();
        } finally {
            LibcCalls.close(packets);
        }
    }

    /** A listener and the ends of its connections have one local port; the far end tells them apart. */
    @Test
    void connectionsAreToldFromTheirListener() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = load(0, "filter");
                ServerSocketChannel listener = ServerSocketChannel.open().bind(new InetSocketAddress(0))) {
            int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            try (SocketChannel client = SocketChannel.open(self(port));
                    SocketChannel second = SocketChannel.open(self(port));
                    SocketChannel accepted = listener.accept();
                    SocketChannel acceptedSecond = listener.accept()) {
                try (Link _ = object.program("filter").attach(Socket.filter(accepted))) {
                    second.write(ByteBuffer.wrap(new byte[] {7}));
                    ByteBuffer one = ByteBuffer.allocate(4);
                    assertThat(acceptedSecond.read(one)).isEqualTo(1);
                    assertThat(Bpf.u64(object, "filtered")).isZero();
                    client.write(ByteBuffer.wrap(new byte[] {8}));
                    Await.until("the filter ran", () -> Bpf.u64(object, "filtered") > 0);
                }
                // The client sends again what the filter has dropped.
                assertThat(accepted.read(ByteBuffer.allocate(4))).isEqualTo(1);
                object.program("filter").attach(Socket.filter(listener)).close();
            }
        }
    }

    @Test
    void closingTheChannelClosesTheSocket() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = load(0, "filter");
                ServerSocketChannel listener = ServerSocketChannel.open().bind(self(0))) {
            int port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            SocketChannel client = SocketChannel.open(self(port));
            try (SocketChannel accepted = listener.accept();
                    Link _ = object.program("filter").attach(Socket.filter(client))) {
                client.close();
                assertThat(accepted.read(ByteBuffer.allocate(1))).as("the end").isEqualTo(-1);
            }
        }
    }

    @Test
    void aProgramChoosesAmongSocketsOfAPort() throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = load(0, "second", "refuse_all");
                DatagramChannel one = bound(0, true);
                DatagramChannel two = bound(port(one), true)) {
            try (Link link = object.program("second").attach(Socket.reuseport(one))) {
                for (int i = 0; i < 20; i++) {
                    send(port(one));
                }
                assertRuns(object, "chosen", 20);
                assertReceived(20, two);
                assertThat(received(one)).isZero();
                link.update(object.program("refuse_all"));
                send(port(one));
                assertRuns(object, "chosen", 21);
                assertThat(received(one, two)).isZero();
            }
            for (int i = 0; i < 20; i++) {
                send(port(one));
            }
            assertReceived(20, one, two);
            assertThat(Bpf.u64(object, "chosen")).isEqualTo(21);
            assertThatThrownBy(() -> object.program("second").attach(Socket.filter(one)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("2 sockets of this process");
        }
    }

    @Test
    void whatIsNoSocketIsRefused(@TempDir Path folder) throws Exception {
        try (OwnNetwork _ = OwnNetwork.enter();
                BpfObject object = load(0, "filter", "second");
                DatagramChannel unbound = DatagramChannel.open();
                DatagramChannel alone = bound(0, false);
                ServerSocketChannel unix = ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                        .bind(UnixDomainSocketAddress.of(folder.resolve("socket")))) {
            assertRefused(object, Socket.filter(unbound), "not bound");
            assertRefused(object, Socket.filter(unix), "not bound to an address of IPv4");
            assertRefused(object, Socket.filter(-5), "negative");
            assertRefused(object, Socket.filter(1_000_000), "descriptor 1000000");
            assertRefused(object, Socket.reuseport(alone), "SO_REUSEPORT");
            try (var file = object.program("filter").descriptor()) {
                assertRefused(object, Socket.filter(file.number()), "is not a socket, but anon_inode");
            }
            alone.close();
            assertRefused(object, Socket.filter(alone), "ClosedChannelException");
            Files.delete(folder.resolve("socket"));
        }
    }

    private static void assertRefused(BpfObject object, AttachTarget target, String message) {
        assertThatThrownBy(() -> object.program("filter").attach(target))
                .isInstanceOf(AttachException.class)
                .hasMessageContaining(message);
    }
}
