package io.bpf4j.cli.trace;

import io.bpf4j.cli.failure.CommandException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The process of {@code trace -c CMD}: started, held before its first instruction, and let go once probes are attached.
 *
 * <p>How it is held: a shell stops itself with SIGSTOP and then becomes the command by {@code exec}, which keeps the
 * process ID. A uprobe for that process ID, set on the command's file while the shell is stopped, is there when exec
 * maps the file. Holding the shell at a pipe would cost the command its standard input; ptrace would need native code
 * that belongs in no command.
 *
 * <p>Probes of libraries can't be known before the command maps them; see {@link ProcessWatch}. Owns the process:
 * closing ends it. <i>Confined.</i>
 */
public final class ChildCommand implements AutoCloseable {
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(5);
    private static final String HOLD = "kill -STOP $$; exec \"$@\"";

    private final Path executable;
    private final Process process;

    private ChildCommand(Path executable, Process process) {
        this.executable = executable;
        this.process = process;
    }

    /**
     * Starts {@code line} and holds it.
     *
     * @param line the command, split by {@link Words}
     * @param outputToError whether its standard output goes to standard error, because ours must stay JSON
     * @throws CommandException if there is no such command, or it can't be started
     */
    public static ChildCommand start(String line, boolean outputToError) {
        List<String> words = Words.split(line);
        Path executable = find(words.getFirst(), System.getenv().getOrDefault("PATH", "/usr/bin:/bin"));
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", HOLD + (outputToError ? " >&2" : ""), "sh"));
        command.add(executable.toString());
        command.addAll(words.subList(1, words.size()));
        try {
            ChildCommand child = new ChildCommand(
                    executable, new ProcessBuilder(command).inheritIO().start());
            try {
                child.awaitStopped();
                return child;
            } catch (Throwable e) {
                child.close();
                throw e;
            }
        } catch (IOException e) {
            throw new CommandException("start " + words.getFirst() + ": " + e.getMessage(), e);
        }
    }

    /** The file that the command runs, found through PATH like the shell does. */
    public Path executable() {
        return executable;
    }

    /**
     * The file that {@link #executable} leads to, through symbolic links: what the kernel maps.
     *
     * @throws IOException if it is gone
     */
    public Path file() throws IOException {
        return executable.toRealPath();
    }

    public int pid() {
        return Math.toIntExact(process.pid());
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Lets the command run. */
    public void resume() {
        signal("CONT");
    }

    /** Ends the command if it still runs: politely first, then by force. */
    @Override
    public void close() {
        if (!process.isAlive()) {
            return;
        }
        process.destroy();
        // A stopped process takes its SIGTERM only when it goes on.
        signal("CONT");
        try {
            if (!process.waitFor(2, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    private void awaitStopped() {
        long deadline = System.nanoTime() + STOP_PATIENCE.toNanos();
        while (state() != 'T') {
            if (!process.isAlive()) {
                throw new CommandException("start " + executable + ": /bin/sh ended at once");
            }
            if (System.nanoTime() > deadline) {
                throw new CommandException("start " + executable + ": /bin/sh did not stop itself within "
                        + STOP_PATIENCE.toSeconds() + " s");
            }
            pause();
        }
    }

    /** The letter after the last {@code )} of {@code /proc/PID/stat}: the name before it may itself hold parentheses. */
    private char state() {
        try {
            String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2);
        } catch (IOException e) {
            return ' ';
        }
    }

    private void signal(String name) {
        try {
            new ProcessBuilder("/bin/sh", "-c", "kill -" + name + " " + process.pid())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new CommandException("signal process " + process.pid() + ": " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandException("interrupted while starting the command", e);
        }
    }

    static Path find(String name, String path) {
        if (name.contains("/")) {
            return executableAt(Path.of(name));
        }
        for (String directory : path.split(File.pathSeparator, -1)) {
            Path candidate = Path.of(directory.isEmpty() ? "." : directory, name);
            if (Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
                return candidate.toAbsolutePath();
            }
        }
        throw new CommandException(name + ": no such command in PATH");
    }

    private static Path executableAt(Path file) {
        if (!Files.isRegularFile(file)) {
            throw new CommandException(file + ": no such command");
        }
        if (!Files.isExecutable(file)) {
            throw new CommandException(file + ": is not executable");
        }
        return file.toAbsolutePath();
    }
}
