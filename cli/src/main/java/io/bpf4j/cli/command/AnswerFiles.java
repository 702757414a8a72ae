package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The files of {@code --html} and {@code --svg}, to which an answer is written. <i>Confined.</i>
 *
 * <p>Tested by {@code CliPicturesTest}.
 */
final class AnswerFiles {
    @Option(
            names = "--html",
            paramLabel = "FILE",
            description =
                    "Also write the answer as an HTML page. A file in place keeps its mode; one of another user is refused.")
    private @Nullable Path html;

    @Option(names = "--svg", paramLabel = "FILE", description = "Also write the answer as an SVG picture, likewise.")
    private @Nullable Path svg;

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
        Stream.of(html, svg).filter(Objects::nonNull).forEach(file -> new OutputFile(file).check());
        if (html != null && svg != null && isOne(html, svg)) {
            throw new CommandException("--html and --svg name one file: '" + html + "'");
        }
    }

    private static boolean isOne(Path one, Path other) {
        try {
            return new OutputFile(one)
                    .destination()
                    .normalize()
                    .equals(new OutputFile(other).destination().normalize());
        } catch (IOException e) {
            return false; // it was there a moment ago: the write says what is wrong
        }
    }

    /** Writes the files that the user asked for. */
    void write(OutputFile.Content page, OutputFile.Content picture) {
        if (html != null) {
            new OutputFile(html).write(page);
        }
        if (svg != null) {
            new OutputFile(svg).write(picture);
        }
    }
}
