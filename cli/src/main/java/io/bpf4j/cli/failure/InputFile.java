package io.bpf4j.cli.failure;

import java.nio.file.Files;
import java.nio.file.Path;

/** Looks at a file that a person named before a parser does, for the mistakes that have nothing to do with its format. */
public final class InputFile {
    private static final String ENTRY = "!/";

    private InputFile() {}

    /**
     * Gives the path back if it can be read as a file.
     *
     * @throws CommandException if there is no such file, or it is a directory, a device, empty, or not readable
     */
    public static Path check(Path file) {
        int entry = file.toString().indexOf(ENTRY);
        if (entry >= 0 && !Files.exists(file)) {
            // Of an entry in an archive, the archive can be looked at here; the parser knows the rest.
            check(Path.of(file.toString().substring(0, entry)));
            return file;
        }
        if (!Files.exists(file)) {
            throw new CommandException(file + ": no such file");
        }
        if (Files.isDirectory(file)) {
            throw new CommandException(file + ": is a directory; name a file in it");
        }
        if (!Files.isRegularFile(file)) {
            throw new CommandException(file + ": is not a regular file");
        }
        if (!Files.isReadable(file)) {
            throw new CommandException(file + ": permission denied");
        }
        return file;
    }
}
