package io.bpf4j.process.peer;

import io.bpf4j.process.Tasks;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.OpenFlags;
import io.bpf4j.sys.internal.call.PeerCommand;
import java.io.IOException;
import java.util.Locale;

/**
 * A process that is identified by a pidfd (Linux 5.3): if it ends and its pid is reused, this object does not refer to
 * the new process. Its users, pids and signal handlers are read once, when it is opened. <i>Thread-safe.</i>
 */
public final class PeerProcess implements AutoCloseable {
    private final Host host;
    private final int pid;
    private final Fd fd;
    private final int user;
    private final int group;
    private final int ownPid;
    private final long caught;

    private PeerProcess(Host host, int pid, Fd fd) throws IOException {
        this.host = host;
        this.pid = pid;
        this.fd = fd;
        Tasks tasks = new Tasks(host);
        try {
            // "real effective saved filesystem"
            this.user = Integer.parseUnsignedInt(word(tasks.status(pid, "Uid"), 1));
            this.group = Integer.parseUnsignedInt(word(tasks.status(pid, "Gid"), 1));
            // The pid in each pid namespace, its own namespace last (Linux 4.1).
            String pids = tasks.status(pid, "NSpid");
            this.ownPid = pids.isEmpty() ? pid : Integer.parseInt(pids.substring(pids.lastIndexOf('\t') + 1));
            this.caught = Long.parseUnsignedLong(tasks.status(pid, "SigCgt"), 16);
        } catch (IllegalArgumentException e) {
            throw new IOException("process " + pid + " has ended", e);
        }
        requireRunning();
    }

    private static String word(String line, int index) {
        String[] words = line.split("\\s+", -1);
        return words[Math.min(index, words.length - 1)];
    }

    /**
     * Opens a process.
     *
     * @param pid in the {@code /proc} of the host, and in this process's pid namespace
     * @throws IOException if it has ended
     * @throws SyscallException if the kernel refuses
     */
    public static PeerProcess open(Host host, int pid) throws IOException {
        Fd fd = Kernel.of(host).execute(new FileCommand.OpenProcess(pid));
        try {
            return new PeerProcess(host, pid, fd);
        } catch (IOException | RuntimeException e) {
            fd.close();
            throw e;
        }
    }

    public int pid() {
        return pid;
    }

    /** The process's pid in its own pid namespace. */
    public int ownPid() {
        return ownPid;
    }

    /** The effective user id, in this process's user namespace. */
    public int user() {
        return user;
    }

    int group() {
        return group;
    }

    Host host() {
        return host;
    }

    /** Whether it is stopped, by SIGSTOP or a debugger. */
    public boolean isStopped() {
        return new Tasks(host).status(pid, "State").toUpperCase(Locale.ROOT).startsWith("T");
    }

    /** Whether it has a handler for a signal. */
    public boolean catches(int signal) {
        return (caught >>> (signal - 1) & 1) != 0;
    }

    /**
     * Sends a signal to this process, never to a later process with the same pid.
     *
     * @throws IOException if it has ended
     */
    public void signal(int number) throws IOException {
        if (!Kernel.of(host).execute(new PeerCommand.SendSignal(fd, number))) {
            throw new IOException("process " + pid + " has ended");
        }
    }

    /** Throws an {@code IOException} if it has ended. */
    public void requireRunning() throws IOException {
        signal(0);
    }

    /**
     * Its root directory, with the mounts of its mount namespace.
     *
     * @throws IOException if it has ended
     */
    public PeerFolder root() throws IOException {
        // A magic link, which the kernel follows for its owner and for CAP_SYS_PTRACE only.
        Fd root = Kernel.of(host).execute(new FileCommand.Open(host.process(pid).resolve("root"), OpenFlags.PATH));
        try {
            requireRunning(); // otherwise it may be the root of a later process with the same pid
            return PeerFolder.root(this, root);
        } catch (IOException | RuntimeException e) {
            root.close();
            throw e;
        }
    }

    @Override
    public void close() {
        fd.close();
    }

    @Override
    public String toString() {
        return "process " + pid;
    }
}
