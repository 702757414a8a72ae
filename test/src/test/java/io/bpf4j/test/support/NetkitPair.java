package io.bpf4j.test.support;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** A pair of netkit devices with addresses, gone when this is closed. Needs gcc. */
public final class NetkitPair implements AutoCloseable {
    /** In the network of each device, and nobody's. */
    private static final byte[] BEHIND_PRIMARY = {(byte) 192, 0, 2, 2};

    private static final byte[] BEHIND_PEER = {(byte) 198, 51, 100, 2};
    private static final int DISCARD = 9;

    private final String name;

    private NetkitPair(String name) {
        this.name = name;
    }

    /** Makes one. */
    public static NetkitPair create() throws IOException, InterruptedException {
        // At most 15 bytes, with the p of the peer.
        String name = "b4j" + Integer.toHexString(ThreadLocalRandom.current().nextInt(1 << 28, 1 << 30));
        Commands.Result result = Commands.run(List.of(program(), "add", name, name + "p"));
        if (result.exitCode() != 0) {
            throw new IOException(result.err());
        }
        return new NetkitPair(name);
    }

    private static String program() {
        return CPrograms.compile("netkit", "-O2").toString();
    }

    static boolean isPossible() {
        if (Requirement.GCC.missing().isPresent()) {
            return false;
        }
        try (NetkitPair pair = create()) {
            return !pair.primary().isEmpty();
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** The device that programs are attached to. */
    public String primary() {
        return name;
    }

    /** Sends a datagram out of the primary device. */
    public void sendFromPrimary() throws IOException {
        send(BEHIND_PRIMARY);
    }

    /** Sends a datagram out of the other one. */
    public void sendFromPeer() throws IOException {
        send(BEHIND_PEER);
    }

    private static void send(byte[] address) throws IOException {
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.send(new DatagramPacket(new byte[] {1}, 1, InetAddress.getByAddress(address), DISCARD));
        }
    }

    @Override
    public void close() throws IOException {
        try {
            Commands.check(List.of(program(), "delete", name));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
