package io.bpf4j.cli.failure;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Files that say who gets the metrics, and by which right.
 *
 * <p>Tested by {@code OtlpHeadersTest} and {@code ServerAccessTest}.
 */
public final class AccessFile {
    private AccessFile() {}

    /**
     * The bytes of a file that others may read.
     *
     * @throws CommandException if it is no regular file, is too large, or another user can change it
     */
    public static byte[] own(Path file, int maxBytes) throws IOException {
        return OwnFile.bytes(real(file), maxBytes);
    }

    /**
     * The bytes of a file that is for the user of this process alone.
     *
     * @throws CommandException as {@link #own}, and if another user can read it
     */
    public static byte[] secret(Path file, int maxBytes) throws IOException {
        Path real = real(file);
        Optional<String> reader = OwnFile.whoElseReads(real);
        if (reader.isPresent()) {
            throw new CommandException(file + ": another user can read this file, which is secret: " + reader.get());
        }
        return OwnFile.bytes(real, maxBytes);
    }

    private static Path real(Path file) throws IOException {
        Path real = InputFile.check(file).toRealPath();
        Optional<String> other = OwnFile.whoElse(real, OwnFile.user());
        if (other.isPresent()) {
            throw new CommandException(
                    file + ": another user can change this file, and who gets the metrics by it: " + other.get());
        }
        return real;
    }
}
