package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.ErrorText;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The files of {@code --html} and {@code --svg}, to which an answer is written. <i>Confined.</i>
 *
 * <p>Tested by {@code CliPicturesTest}.
 */
final class AnswerFiles {
    /** Of a file that is not complete yet. */
    private static final String PREFIX = ".bpf4j-";

    private static final FileAttribute<?> READABLE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r--r--"));

    @Option(names = "--html", paramLabel = "FILE", description = "Also write the answer as an HTML page.")
    private @Nullable Path html;

    @Option(names = "--svg", paramLabel = "FILE", description = "Also write the answer as an SVG picture.")
    private @Nullable Path svg;

    /** Writes the content of a file. */
    interface Content {
        void to(Writer writer) throws IOException;
    }

    /** Whether there is a file to write. */
    boolean wanted() {
        return html != null || svg != null;
    }

    /**
     * Checks whether the files can be written. Called before anything is attached, so that no answer is lost.
     *
     * @throws CommandException if one can't
     */
    void check() {
        check(html);
        check(svg);
        if (html != null && html.equals(svg)) {
            throw new CommandException("--html and --svg name one file: '" + html + "'");
        }
    }

    private static void check(@Nullable Path file) {
        if (file == null) {
            return;
        }
        if (isSpecial(file)) {
            if (!Files.isWritable(file)) {
                throw new CommandException("'" + file + "' can't be written: no permission");
            }
            return;
        }
        if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)
                && !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                && !Files.isSymbolicLink(file)) {
            throw new CommandException("'" + file + "' can't be written: it is "
                    + (Files.isDirectory(file) ? "a directory" : "not a regular file"));
        }
        if (Files.exists(file) && !Files.isWritable(file)) {
            throw new CommandException("'" + file + "' can't be written: no permission");
        }
        Path folder = folder(file);
        if (!Files.isDirectory(folder)) {
            throw new CommandException("'" + file + "' can't be written: there is no directory " + folder);
        }
        try {
            Files.delete(Files.createTempFile(folder, PREFIX, null));
        } catch (IOException e) {
            throw new CommandException("'" + file + "' can't be written: " + ErrorText.of(e), e);
        }
    }

    /** A device such as /dev/stdout or /dev/full, which is written to and not replaced. */
    private static boolean isSpecial(Path file) {
        Path absolute = file.toAbsolutePath().normalize();
        return absolute.startsWith("/dev") && !absolute.startsWith("/dev/shm");
    }

    private static Path folder(Path file) {
        return Objects.requireNonNullElse(file.toAbsolutePath().getParent(), file);
    }

    /** Writes the files that the user asked for. */
    void write(Content page, Content picture) {
        write(html, page);
        write(svg, picture);
    }

    /**
     * Writes a new file, which then takes the name: there is never half a file, and a symbolic link that somebody has put
     * there is replaced, not followed.
     */
    private static void write(@Nullable Path file, Content content) {
        if (file == null) {
            return;
        }
        try {
            if (isSpecial(file)) {
                writeTo(file, content);
                return;
            }
            Path made = Files.createTempFile(folder(file), PREFIX, null, READABLE);
            try {
                writeTo(made, content);
                Files.move(made, file, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(made);
            }
        } catch (IOException e) {
            throw new CommandException("'" + file + "' can't be written: " + ErrorText.of(e), e);
        }
    }

    private static void writeTo(Path to, Content content) throws IOException {
        try (Writer writer = Files.newBufferedWriter(to)) {
            content.to(writer);
        }
    }
}
