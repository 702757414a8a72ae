package io.bpf4j.test.loader;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.OpenFlags;
import io.bpf4j.test.support.Bpf;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A network namespace of the calling thread's own, until it is closed, by the same thread. Its loopback device is up,
 * and is number 1 as everywhere. So a hook that takes one program is free, all ports are, and no packet is anybody
 * else's. The other threads stay where they are: the file of the namespace is {@link #FILE}, and not that of the
 * process. <i>Confined.</i>
 */
final class OwnNetwork implements AutoCloseable {
    /** Of the thread that opens it. */
    static final Path FILE = Path.of("/proc/thread-self/ns/net");

    private static final Path IPV6_OF_NEW_DEVICES = Path.of("/proc/sys/net/ipv6/conf/default/disable_ipv6");

    private static final int CLONE_NEWNET = 0x4000_0000;
    private static final int AF_INET = 2;
    private static final int SOCK_DGRAM = 2;
    private static final long SIOCSIFFLAGS = 0x8914;
    private static final short IFF_UP = 1;

    /** {@code struct ifreq}: a name of 16 bytes, and here 2 bytes of flags. */
    private static final int IFREQ = 40;

    private static final int FLAGS = 16;

    /** Against a hang, where a packet is lost. */
    static final int PACKET_MILLIS = 240_000;

    private final Fd before;

    private OwnNetwork(Fd before) {
        this.before = before;
    }

    /** Makes one and enters it. */
    static OwnNetwork enter() throws IOException {
        OwnNetwork network =
                new OwnNetwork(Kernel.of(Host.running()).execute(new FileCommand.Open(FILE, OpenFlags.RDONLY)));
        try {
            call("unshare", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT), CLONE_NEWNET);
            bringUpLoopback();
            // The kernel would look for routers on new devices.
            if (Files.exists(IPV6_OF_NEW_DEVICES)) {
                Files.writeString(IPV6_OF_NEW_DEVICES, "1", StandardOpenOption.WRITE);
            }
            return network;
        } catch (IOException | RuntimeException | Error e) {
            network.close();
            throw e;
        }
    }

    private static void bringUpLoopback() {
        int socket = call(
                "socket",
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT),
                AF_INET,
                SOCK_DGRAM,
                0);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment request = arena.allocate(IFREQ, Long.BYTES);
            request.setString(0, "lo");
            request.set(ValueLayout.JAVA_SHORT, FLAGS, IFF_UP);
            call(
                    "ioctl",
                    FunctionDescriptor.of(
                            ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS),
                    socket,
                    SIOCSIFFLAGS,
                    request);
        } finally {
            call("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT), socket);
        }
    }

    /** Sends a datagram over the loopback device to a socket, and returns when it is there: it has passed all hooks. */
    static void sendToSelf() throws IOException {
        InetAddress self = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        try (DatagramSocket socket = new DatagramSocket(0, self)) {
            socket.setSoTimeout(PACKET_MILLIS);
            socket.send(new DatagramPacket(new byte[] {1}, 1, socket.getLocalSocketAddress()));
            socket.receive(new DatagramPacket(new byte[1], 1));
        }
    }

    /** Until a packet is not counted. */
    static void awaitNoMore(BpfObject object, String counter) throws IOException, InterruptedException {
        Bpf.awaitNotCounted(object, counter, OwnNetwork::sendToSelf);
    }

    /** Goes back to where the thread was. What is attached to the devices of the namespace goes with it. */
    @Override
    public void close() {
        try (before) {
            call(
                    "setns",
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT),
                    before.number(),
                    CLONE_NEWNET);
        }
    }

    /** Calls a function of the C library that returns -1 if it fails. */
    @SuppressWarnings("restricted") // the tests run with --enable-native-access
    private static int call(String function, FunctionDescriptor type, Object... arguments) {
        Linker linker = Linker.nativeLinker();
        MethodHandle handle = linker.downcallHandle(
                linker.defaultLookup().findOrThrow(function),
                type,
                function.equals("ioctl")
                        ? new Linker.Option[] {
                            Linker.Option.captureCallState("errno"), Linker.Option.firstVariadicArg(2)
                        }
                        : new Linker.Option[] {Linker.Option.captureCallState("errno")});
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment errno = arena.allocate(Linker.Option.captureStateLayout());
            List<Object> all = new ArrayList<>(List.of(errno));
            all.addAll(Arrays.asList(arguments));
            int result = (int) handle.invokeWithArguments(all);
            if (result < 0) {
                // On Linux the captured state is one int.
                throw new AssertionError(function + " failed: error " + errno.get(ValueLayout.JAVA_INT, 0));
            }
            return result;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
