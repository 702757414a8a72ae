package io.bpf4j.test.support;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.util.function.BooleanSupplier;

/** Packets over the loopback device. */
public final class Loopback {
    /** Discard: nobody listens there, and if somebody does, it is to throw away. */
    private static final int PORT = 9;

    private Loopback() {}

    /** Sends one IPv4 datagram to this machine. */
    public static void sendDatagram() throws IOException {
        try (DatagramSocket socket = new DatagramSocket()) {
            InetAddress self = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
            socket.send(new DatagramPacket(new byte[] {1}, 1, self, PORT));
        }
    }

    /** Sends datagrams until something has happened; fails if it doesn't. */
    public static void sendUntil(BooleanSupplier happened) throws IOException, InterruptedException {
        Await.until("what the packets cause", () -> {
            sendDatagram();
            return happened.getAsBoolean();
        });
    }
}
