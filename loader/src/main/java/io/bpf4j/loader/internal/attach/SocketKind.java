package io.bpf4j.loader.internal.attach;

import static io.bpf4j.sys.internal.call.SocketCommand.SetProgram.SO_ATTACH_BPF;
import static io.bpf4j.sys.internal.call.SocketCommand.SetProgram.SO_ATTACH_REUSEPORT_EBPF;
import static io.bpf4j.sys.internal.call.SocketCommand.SetProgram.SO_DETACH_BPF;
import static io.bpf4j.sys.internal.call.SocketCommand.SetProgram.SO_DETACH_REUSEPORT_BPF;

import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.Socket;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.SocketCommand;
import io.bpf4j.sys.kernel.Errno;
import java.util.Optional;

/**
 * Sockets, by setsockopt(2).
 *
 * <p>Tested by {@code SocketProgramsOnKernelTest}.
 */
record SocketKind(Socket target, Host host) implements LinkKind {
    @Override
    public Link attach(AttachRequest request) {
        OwnSockets sockets = new OwnSockets(host);
        try {
            return Attachment.of(
                    request, new SocketHook(Kernel.of(host), sockets, sockets.nameOf(target), target.isReuseport()));
        } catch (SyscallException e) {
            throw e;
        } catch (BpfException e) {
            throw request.refused(String.valueOf(e.getMessage()));
        }
    }

    @Override
    public String refusal(Errno errno) {
        return switch (errno) {
            case EINVAL ->
                target.isReuseport()
                        ? "; the socket is not bound with SO_REUSEPORT, or the program is not of SEC(\"sk_reuseport\") or"
                                + " SEC(\"socket\")"
                        : "; the program is not of SEC(\"socket\")";
            case ENOTSOCK -> "; the descriptor is not a socket";
            default -> "";
        };
    }

    /**
     * A socket, by the name that {@code /proc/self/fd} has for it. Its descriptor is searched for when it is needed.
     */
    private record SocketHook(Kernel kernel, OwnSockets sockets, String name, boolean isReuseport)
            implements Attachment.Hook {
        @Override
        public void attach(Fd program) {
            try (Fd socket =
                    sockets.open(name).orElseThrow(() -> new BpfException("the socket was closed meanwhile"))) {
                kernel.execute(
                        isReuseport
                                ? new SocketCommand.SetProgram(
                                        socket, SO_ATTACH_REUSEPORT_EBPF, "SO_ATTACH_REUSEPORT_EBPF", program)
                                : new SocketCommand.SetProgram(socket, SO_ATTACH_BPF, "SO_ATTACH_BPF", program));
            }
        }

        @Override
        public void replace(Fd current, Fd next) {
            attach(next);
        }

        @Override
        public void detach(Fd program) {
            Optional<Fd> found = sockets.open(name);
            if (found.isEmpty()) {
                return; // closed, and its program with it
            }
            try (Fd socket = found.get()) {
                kernel.execute(
                        isReuseport
                                ? new SocketCommand.SetProgram(
                                        socket, SO_DETACH_REUSEPORT_BPF, "SO_DETACH_REUSEPORT_BPF", null)
                                : new SocketCommand.SetProgram(socket, SO_DETACH_BPF, "SO_DETACH_BPF", null));
            } catch (SyscallException e) {
                if (e.errno() != Errno.ENOENT) { // another program has detached it
                    throw e;
                }
            }
        }

        @Override
        public void close() {}
    }
}
