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
        if (file.toString().isEmpty()) {
            throw new CommandException("the name of a file is empty");
        }
        int entry = file.toString().indexOf(ENTRY);
        if (entry >= 0 && !Files.exists(file)) {
            // Of an entry in an archive, the archive can be looked at here; the parser knows the rest.
            check(Path.of(file.toString().substring(0, entry)));
            return file;
        }
        if (!Files.exists(file)) {
            throw new CommandException(file + ": no such file" + encoding(file.toString()));
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

    /** What to do about a name that is no text in the encoding that Java takes names to be in; empty for others. */
    public static String encoding(String name) {
        return name.indexOf('\ufffd') < 0
                ? ""
                : "; its name is not " + System.getProperty("sun.jnu.encoding")
                        + ": set LC_ALL=C.UTF-8, or rename the file";
    }
}
