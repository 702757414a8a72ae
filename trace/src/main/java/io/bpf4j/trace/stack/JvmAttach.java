package io.bpf4j.trace.stack;

import io.bpf4j.elf.internal.text.CString;
import io.bpf4j.process.peer.PeerFolder;
import io.bpf4j.process.peer.PeerProcess;
import io.bpf4j.process.peer.PeerSocket;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Makes a HotSpot JVM execute a command of {@code jcmd}, by its attach mechanism (src/hotspot/os/posix/
 * attachListener_posix.cpp of OpenJDK). <i>Confined.</i>
 *
 * <pre>
 * this process                                  the JVM, whose pid in its own namespace is N
 *   creates /tmp/.attach_pidN, sends SIGQUIT →    finds the file, listens at /tmp/.java_pidN
 *   connects, writes "1\0jcmd\0COMMAND\0\0\0" →    executes it
 *   reads to the end                            ←  writes a number (0 for success), a newline, and the output
 * </pre>
 *
 * <p>The paths are those of the JVM's mount namespace. A JVM that listens already needs no file and no signal. HotSpot
 * looks for the first file in its working directory, too; it is created in {@code /tmp} only, because a working
 * directory may be one whose files others take as instructions.
 *
 * <p><b>Hostile processes.</b> Any process can map a file named {@code libjvm.so}. It can catch SIGQUIT, link its
 * socket to another JVM's, mount any directory as its {@code /tmp}, and never answer. So the connection is used only if
 * this very process listens at its other end, files are created only where the process's user could create them, and
 * everything ends within the caller's time limit.
 */
final class JvmAttach implements AutoCloseable {
    private static final int SIGQUIT = 3;
    private static final int MAX_OUTPUT = 1 << 14;
    /** Bytes of the arguments or of the environment: as many as execve(2) takes by default. */
    private static final int MAX_OPTIONS = 1 << 21;

    private static final long PAUSE_NANOS = 2_000_000;
    private static final String DISABLED = "-XX:+DisableAttachMechanism";

    private final Host host;
    private final PeerProcess process;
    private final PeerFolder temporary;
    private final long deadline;

    private JvmAttach(Host host, PeerProcess process, PeerFolder temporary, long deadline) {
        this.host = host;
        this.process = process;
        this.temporary = temporary;
        this.deadline = deadline;
    }

    /**
     * Opens a JVM without sending it anything.
     *
     * @throws IOException if it has ended, or can't be attached to; the message says why
     * @throws SyscallException if this user may not attach to it
     */
    static JvmAttach open(Host host, int pid, Duration patience) throws IOException {
        long deadline = System.nanoTime() + patience.toNanos();
        PeerProcess process = PeerProcess.open(host, pid);
        try (PeerFolder root = process.root()) {
            PeerFolder temporary = root.folder("tmp");
            try {
                if (!temporary.isSafeForUser()) {
                    throw new IOException("/tmp of process " + pid + " is not safe for files of its user "
                            + process.user() + ": other users may replace files in it, or this user may not create"
                            + " files in it");
                }
                return new JvmAttach(host, process, temporary, deadline);
            } catch (IOException | RuntimeException e) {
                temporary.close();
                throw e;
            }
        } catch (IOException | RuntimeException e) {
            process.close();
            throw e;
        }
    }

    /** The process's number in its own pid namespace. */
    int ownPid() {
        return process.ownPid();
    }

    /** The process's {@code /tmp}. */
    PeerFolder temporary() {
        return temporary;
    }

    /**
     * Executes a command; returns its output.
     *
     * @param command of {@code jcmd}
     * @throws IOException if the JVM does not answer in time, or the command fails
     */
    String jcmd(String command) throws IOException {
        try (PeerSocket socket = connect()) {
            socket.send(("1\0jcmd\0" + command + "\0\0\0").getBytes(StandardCharsets.UTF_8));
            String answer = CString.exact(socket.receive(MAX_OUTPUT, deadline));
            int end = answer.indexOf('\n');
            if (!answer.startsWith("0\n")) {
                String output = answer.substring(end + 1).strip();
                throw new IOException("process " + process.pid() + " refuses " + command + ": "
                        + (output.isEmpty() ? "no reason given" : Names.cut(output.split("\n", 2)[0])));
            }
            return answer.substring(end + 1).strip();
        }
    }

    private PeerSocket connect() throws IOException {
        String socket = ".java_pid" + process.ownPid();
        if (!temporary.has(socket)) {
            startListener(socket);
        }
        return temporary.connect(socket);
    }

    private void startListener(String socket) throws IOException {
        requireAttachable();
        String trigger = ".attach_pid" + process.ownPid();
        boolean created = temporary.create(trigger);
        if (!created && !temporary.hasOwnFile(trigger)) {
            throw new IOException("/tmp/" + trigger + " of process " + process.pid() + " is not a file of its user");
        }
        try {
            process.signal(SIGQUIT);
            while (!temporary.has(socket)) {
                if (System.nanoTime() - deadline >= 0) {
                    throw new IOException("process " + process.pid() + " does not listen for commands");
                }
                process.requireRunning();
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        } finally {
            if (created) {
                temporary.remove(trigger);
            }
        }
    }

    /**
     * Refuses a process that SIGQUIT would disturb: a JVM that does not listen for commands prints its threads, and a
     * program without a handler ends.
     */
    private void requireAttachable() throws IOException {
        int pid = process.pid();
        if (!process.catches(SIGQUIT)) {
            throw new IOException("process " + pid + " has no handler for SIGQUIT, unlike a JVM");
        }
        if (process.isStopped()) {
            throw new IOException("process " + pid + " is stopped");
        }
        if (has(DISABLED)) {
            throw new IOException("process " + pid + " was started with " + DISABLED);
        }
    }

    private boolean has(String option) throws IOException {
        for (String file : new String[] {"cmdline", "environ"}) {
            try (InputStream in =
                    Files.newInputStream(host.process(process.pid()).resolve(file))) {
                if (new String(in.readNBytes(MAX_OPTIONS), StandardCharsets.ISO_8859_1).contains(option)) {
                    return true;
                }
            }
        }
        return false;
    }

    @Override
    public void close() {
        temporary.close();
        process.close();
    }
}
