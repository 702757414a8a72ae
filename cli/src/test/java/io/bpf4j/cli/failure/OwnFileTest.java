package io.bpf4j.cli.failure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OwnFileTest {
    @TempDir
    private Path temporary;

    /** Whoever owns the directory of a link can exchange it between the check and the use of the path. */
    @Test
    void aLinkOnTheWayIsRefused() throws IOException {
        Path folder = temporary.toRealPath();
        Path real = Files.createDirectory(
                folder.resolve("real"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        Path file = Files.writeString(real.resolve("file"), "");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), real);
        assertThat(OwnFile.whoElse(file, OwnFile.user())).isEmpty();
        assertThat(OwnFile.whoElse(link.resolve("file"), OwnFile.user()))
                .hasValueSatisfying(why -> assertThat(why).startsWith(link.toString()));
    }
}
