package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The files of {@code --html} and {@code --svg}, which receive the answer. <i>Confined.</i>
 *
 * <p>Tested by {@code CliPicturesTest}.
 */
final class AnswerFiles {
    @Option(
            names = "--html",
            paramLabel = "FILE",
            description =
                    "Also write the answer as an HTML page. An existing file keeps its mode; a file of another user "
                            + "is refused.")
    private @Nullable Path html;

    @Option(
            names = "--svg",
            paramLabel = "FILE",
            description = "Also write the answer as an SVG picture, with the same rules.")
    private @Nullable Path svg;

    private volatile @Nullable OutputFile writing;

    /** Whether the user named a file. */
    boolean areGiven() {
        return html != null || svg != null;
    }

    /**
     * Checks whether the files can be written. Called before anything is attached, so that no answer is lost.
     *
     * @throws CommandException if a file can't be written
     */
    void check() {
        Stream.of(html, svg).filter(Objects::nonNull).forEach(file -> new OutputFile(file).check());
        if (html != null && svg != null && isSameFile(html, svg)) {
            throw new CommandException("--html and --svg name the same file: '" + html + "'");
        }
    }

    private static boolean isSameFile(Path one, Path other) {
        try {
            return new OutputFile(one)
                    .destination()
                    .normalize()
                    .equals(new OutputFile(other).destination().normalize());
        } catch (IOException e) {
            return false; // the file was just removed; writing it reports the problem
        }
    }

    /** Writes the files that the user asked for. */
    void write(OutputFile.Content page, OutputFile.Content picture) {
        write(html, page);
        write(svg, picture);
    }

    private void write(@Nullable Path path, OutputFile.Content content) {
        if (path != null) {
            OutputFile file = new OutputFile(path);
            writing = file;
            file.write(content);
        }
    }

    /** Leaves the file that is being written as it was; from another thread, before the process ends. */
    void abandon() {
        OutputFile file = writing;
        if (file != null) {
            file.abandon();
        }
    }
}
