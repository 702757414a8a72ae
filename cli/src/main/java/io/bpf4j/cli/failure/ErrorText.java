package io.bpf4j.cli.failure;

import io.bpf4j.cli.output.OutputClosedException;
import io.bpf4j.elf.Bpf4jException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** The line for the user about a failure, without the prefix {@code bpf4j: }. */
public final class ErrorText {
    private ErrorText() {}

    public static String of(Throwable failure) {
        return switch (failure) {
            case CommandException e -> message(e);
            case UsageException e -> message(e);
            case Bpf4jException e -> message(e);
            case NoSuchFileException e -> e.getFile() + ": no such file";
            case AccessDeniedException e -> e.getFile() + ": permission denied";
            case FileSystemException e ->
                e.getFile() + ": " + (e.getReason() == null ? "can't be read" : e.getReason()) + files(e);
            case IOException e -> message(e);
            case OutputClosedException e -> e.problem().orElse(message(e));
            case OutOfMemoryError e ->
                "out of memory (" + e.getMessage() + "): give Java more, such as by JAVA_TOOL_OPTIONS=-Xmx1g";
            case LinkageError e ->
                "part of the program can't be loaded: " + root(e)
                        + "; are there enough file descriptors (ulimit -n) and memory?";
            default ->
                "internal error, please report it with the output of BPF4J_DEBUG=1: "
                        + failure.getClass().getSimpleName() + ": " + failure.getMessage();
        };
    }

    private static Throwable root(Throwable failure) {
        Throwable root = failure;
        for (Throwable cause = root.getCause(); cause != null; cause = cause.getCause()) {
            root = cause;
        }
        return root;
    }

    private static String files(FileSystemException failure) {
        return String.valueOf(failure.getReason()).contains("Too many open files")
                ? "; the limit of this process is reached (ulimit -n)"
                : "";
    }

    private static String message(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? failure.getClass().getSimpleName() : message;
    }
}
