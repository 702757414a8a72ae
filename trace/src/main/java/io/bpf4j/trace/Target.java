package io.bpf4j.trace;

import io.bpf4j.elf.internal.text.FileName;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;

/**
 * The processes that a question follows: a process that runs, or a command that is started for it; and, if wanted, their
 * descendants. A process is held while probes are attached to its new code, so no first event is missed: {@link
 * io.bpf4j.usdt.UsdtWatch} documents how. <b>Immutable</b>.
 */
public sealed interface Target permits TargetData {
    /** A process that runs, numbered as in this process's pid namespace. Its code of now is traced, and later code. */
    static Target process(int pid) {
        if (pid <= 0) {
            throw new IllegalArgumentException("pid " + pid + " is not positive");
        }
        return new TargetData(OptionalInt.of(pid), List.of(), false, true, false);
    }

    /**
     * A command that is started when the question is opened, and ended when it is closed. It has this process's standard
     * input, output and error, its environment and its process group. No shell reads it.
     *
     * @param line the program, by its path or its name in {@code PATH}, and its arguments
     * @throws IllegalArgumentException if there is no program
     */
    static Target command(List<String> line) {
        if (line.isEmpty()) {
            throw new IllegalArgumentException("a command has at least a program");
        }
        return new TargetData(OptionalInt.empty(), List.copyOf(line), false, true, false);
    }

    /** The same as {@link #command(List)}. */
    static Target command(String... line) {
        return command(List.of(line));
    }

    /** Follows all descendants, too: those that exist now and later ones, each from its first instruction. */
    Target withChildren();

    /**
     * Holds no process: new code is looked for every few milliseconds instead. First events may be missing; debuggers can
     * trace the processes.
     */
    Target withoutHolding();

    /** The command's standard output goes to this process's standard error. */
    Target withOutputToError();

    /** The process that runs; empty for a command. */
    OptionalInt pid();

    /** The command, its program first; empty for a process. */
    List<String> line();

    /** Whether descendants are followed: {@link #withChildren}. */
    boolean children();

    /** Whether processes are held while probes are attached: {@link #withoutHolding}. */
    boolean holding();

    /** Whether the command's output goes to standard error: {@link #withOutputToError}. */
    boolean outputToError();

    /**
     * The program of the command, found through {@code PATH} as a shell does.
     *
     * @return an absolute path
     * @throws IOException if there is no such program, or it is not executable
     * @throws IllegalStateException if this is not a command
     */
    Path program() throws IOException;
}

/** @param pid empty for a command */
record TargetData(OptionalInt pid, List<String> line, boolean children, boolean holding, boolean outputToError)
        implements Target {
    @Override
    public Target withChildren() {
        return new TargetData(pid, line, true, holding, outputToError);
    }

    @Override
    public Target withoutHolding() {
        return new TargetData(pid, line, children, false, outputToError);
    }

    @Override
    public Target withOutputToError() {
        return new TargetData(pid, line, children, holding, true);
    }

    @Override
    public Path program() throws IOException {
        if (line.isEmpty()) {
            throw new IllegalStateException("process " + pid.orElseThrow() + " is no command");
        }
        return find(line.getFirst(), System.getenv().getOrDefault("PATH", "/usr/bin:/bin"));
    }

    private static Path find(String name, String path) throws IOException {
        if (name.contains("/")) {
            Path file = FileName.of(name).path();
            if (!Files.isRegularFile(file)) {
                throw new IOException(file + ": no such command");
            }
            if (!Files.isExecutable(file)) {
                throw new IOException(file + ": is not executable");
            }
            return file.toAbsolutePath();
        }
        for (String directory : path.split(File.pathSeparator, -1)) {
            Path candidate = FileName.of((directory.isEmpty() ? "." : directory) + "/" + name)
                    .path();
            if (Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
                return candidate.toAbsolutePath();
            }
        }
        throw new IOException(name + ": no such command in PATH");
    }
}
