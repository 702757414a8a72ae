package io.bpf4j.cli.failure;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Reads the files with the certificates, keys and headers of pushes.
 *
 * <p>Tested by {@code OtlpHeadersTest} and {@code ServerAccessTest}.
 */
public final class AccessFile {
    private AccessFile() {}

    /**
     * Reads a file that other users may read.
     *
     * @throws CommandException if it is no regular file, is too large, or another user can change it
     */
    public static byte[] own(Path file, int maxBytes) throws IOException {
        return OwnFile.bytes(real(file), maxBytes);
    }

    /**
     * Reads a file that only the user of this process may read.
     *
     * @throws CommandException as {@link #own}, and if another user can read it
     */
    public static byte[] secret(Path file, int maxBytes) throws IOException {
        Path real = real(file);
        Optional<String> reader = OwnFile.whoElseReads(real);
        if (reader.isPresent()) {
            throw new CommandException(
                    file + ": another user can read this file, which contains secrets: " + reader.get());
        }
        return OwnFile.bytes(real, maxBytes);
    }

    private static Path real(Path file) throws IOException {
        return OwnFile.real(
                InputFile.check(file),
                OwnFile.user(),
                why -> new CommandException(
                        file + ": another user can change this file, and so who gets the metrics: " + why));
    }
}
