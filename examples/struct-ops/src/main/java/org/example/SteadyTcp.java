package org.example;

import io.bpf4j.loader.link.Link;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Registers a congestion control of TCP, makes it the default while one connection is opened, and tells how often the
 * kernel has called it.
 *
 * <pre>java -jar target/struct-ops.jar</pre>
 */
public class SteadyTcp {
    public static void main(String[] args) throws Exception {
        Path choice = Path.of("/proc/sys/net/ipv4/tcp_congestion_control"); // for new sockets of this network namespace
        try (Steady steady = Steady.open().load();
                Link link = steady.object().attachStructOps("steady")) {
            System.out.println("registered by " + link);
            String before = Files.readString(choice);
            Files.writeString(choice, "bpf4j_steady");
            try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                    Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
                    Socket accepted = server.accept()) {
                client.getOutputStream().write(new byte[100_000]);
                accepted.getInputStream().readNBytes(100_000);
            } finally {
                Files.writeString(choice, before);
            }
            System.out.println(steady.sockets() + " sockets, " + steady.acknowledgements() + " acknowledgements");
        }
    }
}
