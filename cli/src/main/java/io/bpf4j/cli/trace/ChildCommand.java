package io.bpf4j.cli.trace;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.elf.FileName;
import io.bpf4j.loader.process.HeldCommand;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * The process of {@code trace -c CMD}. It is started, held before it executes the command, and released after the watch
 * has started. Owns the process: closing ends it. <i>Confined.</i>
 */
public final class ChildCommand implements AutoCloseable {
    private final Path executable;
    private final HeldCommand command;

    private ChildCommand(Path executable, HeldCommand command) {
        this.executable = executable;
        this.command = command;
    }

    /**
     * Starts {@code line} and holds it.
     *
     * @param line the command, split by {@link Words}
     * @param outputToError whether the command's standard output goes to standard error, because bpf4j's own output
     *     must be JSON only
     * @throws CommandException if the command does not exist or can't be started
     */
    public static ChildCommand start(String line, boolean outputToError) {
        List<String> words = Words.split(line);
        Path executable = find(words.getFirst(), System.getenv().getOrDefault("PATH", "/usr/bin:/bin"));
        List<String> command = new ArrayList<>(List.of(executable.toString()));
        command.addAll(words.subList(1, words.size()));
        try {
            return new ChildCommand(executable, HeldCommand.start(command, outputToError));
        } catch (IOException e) {
            throw new CommandException("start " + words.getFirst() + ": " + e.getMessage(), e);
        }
    }

    /** The file that the command runs, found through PATH as a shell does. */
    public Path executable() {
        return executable;
    }

    /**
     * The target of {@link #executable} after symbolic links: the file that the kernel maps.
     *
     * @throws IOException if the file no longer exists
     */
    public Path file() throws IOException {
        return executable.toRealPath();
    }

    public int pid() {
        return command.pid();
    }

    public boolean isAlive() {
        return command.isAlive();
    }

    /** The exit code of the command, or 128 and the number of the signal that ended it; empty if it still runs. */
    public OptionalInt status() {
        return command.status();
    }

    /** Lets the command run. */
    public void resume() {
        command.release();
    }

    /** Ends the command if it still runs: first by SIGTERM, then by force. */
    @Override
    public void close() {
        command.close();
    }

    static Path find(String name, String path) {
        if (name.contains("/")) {
            return executableAt(FileName.of(name).path());
        }
        for (String directory : path.split(File.pathSeparator, -1)) {
            Path candidate = FileName.of((directory.isEmpty() ? "." : directory) + "/" + name)
                    .path();
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
