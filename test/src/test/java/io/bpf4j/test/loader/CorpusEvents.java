package io.bpf4j.test.loader;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** What programs of the corpus wait for, made to happen once. */
final class CorpusEvents {
    private CorpusEvents() {}

    /** Sockets of all families are made, bound, connected, asked and closed; a sysctl is read and a device opened. */
    static void ofNetwork() throws IOException {
        udp(StandardProtocolFamily.INET, new byte[] {127, 0, 0, 1});
        udp(StandardProtocolFamily.INET6, new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
        tcp(StandardProtocolFamily.INET, new byte[] {127, 0, 0, 1});
        tcp(StandardProtocolFamily.INET6, new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
        unix();
        Files.readString(Path.of("/proc/sys/kernel/ostype"));
        Files.write(Path.of("/dev/null"), "x".getBytes(UTF_8));
    }

    private static void udp(ProtocolFamily family, byte[] loopback) throws IOException {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getByAddress(loopback), 0);
        try (DatagramChannel receiver = DatagramChannel.open(family).bind(any);
                DatagramChannel sender = DatagramChannel.open(family)) {
            sender.send(ByteBuffer.wrap(new byte[] {1}), receiver.getLocalAddress());
            receiver.receive(ByteBuffer.allocate(16));
            sender.connect(receiver.getLocalAddress());
        }
    }

    private static void tcp(ProtocolFamily family, byte[] loopback) throws IOException {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getByAddress(loopback), 0);
        try (ServerSocketChannel server = ServerSocketChannel.open(family).bind(any);
                SocketChannel client = SocketChannel.open(family)) {
            client.setOption(StandardSocketOptions.TCP_NODELAY, true);
            client.getOption(StandardSocketOptions.TCP_NODELAY);
            client.connect(server.getLocalAddress());
            try (SocketChannel accepted = server.accept()) {
                client.write(ByteBuffer.wrap(new byte[] {42}));
                accepted.read(ByteBuffer.allocate(1));
            }
        }
    }

    private static void unix() throws IOException {
        Path path = Files.createTempDirectory("bpf4j-corpus").resolve("socket");
        try (ServerSocketChannel server =
                        ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(path));
                SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            client.getLocalAddress();
            server.accept().close();
        } finally {
            Files.delete(path);
            Files.delete(path.getParent());
        }
    }

    /** A folder is listed, and a file is read. */
    static void ofFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            files.forEach(file -> {});
        }
        Files.readString(Path.of("/proc/self/status"));
    }

    /** This thread uses the processor, for about a millisecond: clocks of processes do not go while they wait. */
    static void ofProcessor() {
        for (int i = 0; i < 50_000; i++) {
            Thread.onSpinWait();
        }
    }
}
