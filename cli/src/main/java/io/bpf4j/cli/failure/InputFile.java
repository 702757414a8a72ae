package io.bpf4j.cli.failure;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Checks a file from the command line before it is parsed, for errors that don't concern its format.
 *
 * <p>Tested by {@code HostileArgumentsTest} and {@code CliUsageTest}.
 */
public final class InputFile {
    private static final String ENTRY = "!/";

    private InputFile() {}

    /**
     * Returns the path if it can be read as a file.
     *
     * @throws CommandException if the file does not exist, or is a directory, a device, empty, or not readable
     */
    public static Path check(Path file) {
        if (file.toString().isEmpty()) {
            throw new CommandException("the name of a file is empty");
        }
        int entry = file.toString().indexOf(ENTRY);
        if (entry >= 0 && !Files.exists(file)) {
            // For an entry in an archive only the archive can be checked here; the parser checks the entry.
            check(Path.of(file.toString().substring(0, entry)));
            return file;
        }
        BasicFileAttributes attributes = readable(file);
        if (!attributes.isRegularFile()) {
            throw new CommandException(file + ": is not a regular file");
        }
        return file;
    }

    /**
     * Returns the attributes of what can be read from beginning to end: a file, or a pipe, such as a shell's {@code
     * <(command)}.
     *
     * @throws CommandException if it does not exist, or is a directory, or not readable
     */
    public static BasicFileAttributes readable(Path file) {
        BasicFileAttributes attributes;
        try {
            attributes = Files.readAttributes(file, BasicFileAttributes.class);
        } catch (NoSuchFileException e) {
            throw new CommandException(file + ": " + whyMissing(file) + encoding(file.toString()), e);
        } catch (AccessDeniedException e) {
            throw new CommandException(
                    file + ": permission denied: this user may not search a directory of the path", e);
        } catch (FileSystemException e) {
            throw new CommandException(file + ": " + reason(e), e);
        } catch (IOException e) {
            throw new CommandException(file + ": " + e.getMessage(), e);
        }
        if (attributes.isDirectory()) {
            throw new CommandException(file + ": is a directory; name a file in it");
        }
        if (!Files.isReadable(file)) {
            throw new CommandException(file + ": permission denied");
        }
        return attributes;
    }

    private static String whyMissing(Path file) {
        if (Files.isSymbolicLink(file)) {
            try {
                return "is a symbolic link to " + Files.readSymbolicLink(file) + ", which does not exist";
            } catch (IOException e) {
                return "no such file";
            }
        }
        return "no such file";
    }

    /**
     * The system's message. For a cycle of links Java adds a hint to "Too many levels of symbolic links", so that text
     * is replaced.
     */
    private static String reason(FileSystemException failure) {
        String reason = String.valueOf(failure.getReason());
        return reason.startsWith("Too many levels of symbolic links") ? "symbolic links form a loop" : reason;
    }

    /**
     * A message about an argument that lost bytes, because the locale's encoding does not have them: a command would
     * get another argument, or a text would be compared with another text. UTF-8 keeps nearly every text, so there the
     * character that stands for lost bytes may be the user's own.
     */
    public static Optional<String> notText(String... arguments) {
        String encoding = String.valueOf(System.getProperty("sun.jnu.encoding"));
        return encoding.equals("UTF-8")
                ? Optional.empty()
                : Stream.of(arguments)
                        .filter(argument -> argument.indexOf('\ufffd') >= 0)
                        .findFirst()
                        .map(argument -> "'" + argument + "' has characters that the locale's encoding, " + encoding
                                + ", does not have: set LC_ALL=C.UTF-8");
    }

    /**
     * The advice for a name that is not valid text in Java's encoding of file names; empty for other names. In UTF-8 no
     * setting helps: Java has no path for such bytes.
     */
    public static String encoding(String name) {
        if (name.indexOf('\ufffd') < 0) {
            return "";
        }
        String encoding = String.valueOf(System.getProperty("sun.jnu.encoding"));
        return "; its name is not " + encoding + ": "
                + (encoding.equals("UTF-8")
                        ? "give it a name that is (ln -s), or name a process that has it mapped, by -p PID"
                        : "set LC_ALL=C.UTF-8, or give it another name (ln -s)");
    }
}
