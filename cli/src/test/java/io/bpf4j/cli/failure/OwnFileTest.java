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

    /** A part of the path that follows a link may itself be a link, also if ".." leads away from it. */
    @Test
    void eachLinkOnTheWayIsLookedAt() throws IOException {
        Path folder = temporary.toRealPath();
        Path file = Files.writeString(folder.resolve("file"), "");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        Path shared = Files.createDirectory(folder.resolve("shared"));
        Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwxrwxrwx"));
        Files.createSymbolicLink(shared.resolve("up"), folder.resolve("x"));
        Files.createDirectory(folder.resolve("x"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), folder);
        assertThat(real(link.resolve("file"))).isEqualTo(file.toString());
        assertThat(real(link.resolve("shared/up/../file")))
                .startsWith(shared + "/up is a symbolic link, and " + shared);
        assertThat(real(folder.resolve("shared/../link/shared/up/../file")))
                .contains("/up is a symbolic link, and " + shared);
    }

    /** The real path, or why there is none. */
    private static String real(Path file) throws IOException {
        try {
            return OwnFile.real(file, OwnFile.user(), IllegalStateException::new)
                    .toString();
        } catch (IllegalStateException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
