package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.ErrorText;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The files of {@code --html} and {@code --svg}, to which an answer is written. <i>Confined.</i>
 *
 * <p>Tested by {@code CliPicturesTest}.
 */
final class AnswerFiles {
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
    }

    private static void check(@Nullable Path file) {
        if (file == null) {
            return;
        }
        Path folder = file.toAbsolutePath().getParent();
        boolean exists = Files.exists(file);
        if (Files.isDirectory(file)) {
            throw new CommandException("'" + file + "' can't be written: it is a directory");
        }
        if (!exists && folder != null && !Files.isDirectory(folder)) {
            throw new CommandException("'" + file + "' can't be written: there is no directory " + folder);
        }
        if (!Files.isWritable(exists || folder == null ? file : folder)) {
            throw new CommandException("'" + file + "' can't be written: no permission");
        }
    }

    /** Writes the files that the user asked for. */
    void write(Content page, Content picture) {
        write(html, page);
        write(svg, picture);
    }

    private static void write(@Nullable Path file, Content content) {
        if (file != null) {
            try (Writer writer = Files.newBufferedWriter(file)) {
                content.to(writer);
            } catch (IOException e) {
                throw new CommandException("'" + file + "' can't be written: " + ErrorText.of(e), e);
            }
        }
    }
}
