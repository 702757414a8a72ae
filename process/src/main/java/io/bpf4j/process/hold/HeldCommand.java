package io.bpf4j.process.hold;

import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ProcessCommand;
import io.bpf4j.sys.internal.call.Ptrace;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * A command that is started, but executed only at {@link #release}: before that, a {@link ProcessTracer} can start to
 * trace it. It has this process's standard input, output and error, its environment ({@link #variablesThatMayBeLost})
 * and its process group. <i>Thread-safe.</i>
 *
 * <p>The command is a grandchild. Java waits for its children on its own thread, which would mistake a stop of a traced
 * child for its end; so a shell in between waits for the command. A second shell, which becomes the command, writes its
 * process id to one pipe and reads from another, both by their names below {@code /proc}, because Java passes no
 * further descriptors to its children. If this process dies first, that read ends, and the command is not executed.
 * Rejected: SIGSTOP, which the shell's parents notice, and which the kernel undoes when the process group is orphaned.
 *
 * <p>Closing ends the command if it still runs: by SIGTERM and, after two seconds, SIGKILL.
 *
 * <p>Tested by {@code ProcessTracerTest}.
 */
public final class HeldCommand implements AutoCloseable {
    /** How long to wait for the shell, which ends right after the command unless it is stopped. */
    private static final Duration SHELL_TIMEOUT = Duration.ofSeconds(30);

    private static final Duration TERM_TIMEOUT = Duration.ofSeconds(2);
    private static final String SHELL = "/bin/sh";

    /** A shell that passes all variables on. In this mode it reads no file that {@code BASH_ENV} names. */
    private static final String BASH = "/bin/bash";

    private static final String BASH_MODE = "--posix";
    private static final Pattern SHELL_VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    /**
     * Opens the pipe for its start before it writes its process id, because this process then closes its own end for
     * reading.
     */
    private static final String INNER =
            "exec 2>&3 3>&- 4<\"$2\"; echo $$ >\"$1\" && read -r go <&4 || exit 125; exec 4<&-; shift 2; exec \"$@\"";

    private final Process shell;
    private final ProcessHandle command;
    private final Fd gate;

    private HeldCommand(Process shell, ProcessHandle command, Fd gate) {
        this.shell = shell;
        this.command = command;
        this.gate = gate;
    }

    /**
     * Starts a command and holds it.
     *
     * @param command the file to execute and its arguments. Whether the file can be executed is known only at {@link
     *     #release}: if not, the shell reports it on standard error, and the command ends
     * @param outputToError whether its standard output goes to this process's standard error
     * @throws IOException if the shell can't be started
     * @throws IllegalArgumentException if the command is empty
     */
    public static HeldCommand start(List<String> command, boolean outputToError) throws IOException {
        if (command.isEmpty()) {
            throw new IllegalArgumentException("the command is empty: it needs at least the file to execute");
        }
        Kernel kernel = Kernel.of(Host.running());
        FileCommand.Pipe.Ends pidPipe = kernel.execute(new FileCommand.Pipe("process id"));
        try (Fd pidReader = pidPipe.read();
                Fd pidWriter = pidPipe.write()) {
            FileCommand.Pipe.Ends gate = kernel.execute(new FileCommand.Pipe("gate"));
            try (Fd gateReader = gate.read()) {
                List<String> line = new ArrayList<>(shell());
                line.addAll(List.of(
                        "-c", outer(line), INNER + (outputToError ? " >&2" : ""), path(pidWriter), path(gateReader)));
                line.addAll(command);
                Process shell = new ProcessBuilder(line).inheritIO().start();
                try {
                    int pid = awaitPid(kernel, pidReader, shell);
                    ProcessHandle handle = ProcessHandle.of(pid).orElseThrow(() -> ended(command));
                    return new HeldCommand(shell, handle, gate.write());
                } catch (Throwable e) {
                    shell.destroyForcibly();
                    throw e;
                }
            } catch (Throwable e) {
                UndoStack.of(gate.write()::close).closeAfter(e); // which also ends the inner shell
                throw e;
            }
        }
    }

    /**
     * Starts the second shell, whose script and arguments are its own arguments, and waits for it. Standard error is
     * for the second shell only: a shell writes there if a signal ends the process that it waits for.
     */
    private static String outer(List<String> shell) {
        return "exec 3>&2 2>&-; " + String.join(" ", shell) + " -c \"$0\" sh \"$@\"; exit $?";
    }

    /**
     * Some shells, such as dash and those of busybox, have only variables whose names they could use, and pass no others
     * on: neither {@code spring.profiles.active} nor the functions that bash exports.
     */
    private static List<String> shell() {
        return namesForNoShell().isEmpty() || !Files.isExecutable(Path.of(BASH))
                ? List.of(SHELL)
                : List.of(BASH, BASH_MODE);
    }

    private static List<String> namesForNoShell() {
        return System.getenv().keySet().stream()
                .filter(name -> !SHELL_VARIABLE.matcher(name).matches())
                .sorted()
                .toList();
    }

    /** The variables of this process that a command may not get, since no shell was found that passes them on. */
    public static List<String> variablesThatMayBeLost() {
        return shell().getFirst().equals(SHELL) ? namesForNoShell() : List.of();
    }

    private static IOException ended(List<String> command) {
        return new IOException("the shell that was started to execute " + command.getFirst() + " ended at once");
    }

    private static String path(Fd fd) {
        int self = Math.toIntExact(ProcessHandle.current().pid());
        return Host.running().process(self).resolve("fd/" + fd.number()).toString();
    }

    /** Waits as long as the shell runs: on an overloaded machine two shells can take half a minute to start. */
    private static int awaitPid(Kernel kernel, Fd pidReader, Process shell) throws IOException {
        StringBuilder text = new StringBuilder();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(32, 8);
            while (true) {
                long length = kernel.execute(new FileCommand.Read(pidReader, buffer));
                if (length > 0) {
                    text.append(StandardCharsets.US_ASCII.decode(
                            buffer.asSlice(0, length).asByteBuffer()));
                    if (text.charAt(text.length() - 1) == '\n') {
                        return Integer.parseInt(text.substring(0, text.length() - 1));
                    }
                } else if (length < 0 && length != -Errno.EAGAIN.number()) {
                    throw new IOException(
                            "the process id that " + SHELL + " writes can't be read: " + Errno.describe((int) -length));
                } else if (shell.waitFor(1, TimeUnit.MILLISECONDS)) {
                    throw new IOException(SHELL + " ended at once");
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the command was started", e);
        }
    }

    /** The process that becomes the command. */
    public int pid() {
        return Math.toIntExact(command.pid());
    }

    /** Whether the command has not ended yet, released or not. */
    public boolean isAlive() {
        return shell.isAlive() || command.isAlive();
    }

    /**
     * How the command ended, as a shell reports it: its exit code, or 128 and the number of the signal that ended it.
     * Empty if it still runs.
     */
    public OptionalInt status() {
        if (command.isAlive()) {
            return OptionalInt.empty();
        }
        try {
            shell.waitFor(SHELL_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS); // it ends after the command
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return shell.isAlive() ? OptionalInt.empty() : OptionalInt.of(shell.exitValue());
    }

    /** Executes the command. A second call does nothing. */
    public void release() {
        if (gate.isClosed()) {
            return;
        }
        try (gate;
                Arena arena = Arena.ofConfined()) {
            MemorySegment line = arena.allocate(ValueLayout.JAVA_BYTE);
            line.set(ValueLayout.JAVA_BYTE, 0, (byte) '\n');
            Kernel.of(Host.running()).execute(new FileCommand.Write(gate, line));
        }
    }

    @Override
    public void close() {
        boolean released = gate.isClosed();
        try (UndoStack all = UndoStack.of(() -> end(released))) {
            all.own(gate);
        }
    }

    private void end(boolean released) {
        if (!isAlive()) {
            return;
        }
        if (released) {
            command.destroy();
            // A stopped process handles its SIGTERM only after it is continued.
            Kernel.of(Host.running()).execute(new ProcessCommand.Signal(pid(), pid(), Ptrace.SIGCONT));
        }
        try {
            if (!shell.waitFor(TERM_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                command.destroyForcibly();
                // The shell ends after the command, unless the shell is stopped.
                shell.waitFor(TERM_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            command.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
