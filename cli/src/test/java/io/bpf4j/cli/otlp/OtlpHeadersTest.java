package io.bpf4j.cli.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.cli.failure.CommandException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OtlpHeadersTest {
    @TempDir
    private Path folder;

    private Path file(String text) throws IOException {
        return file(text.getBytes(StandardCharsets.UTF_8), "rw-------");
    }

    private Path file(byte[] text, String rights) throws IOException {
        Path file = Files.write(folder.toRealPath().resolve("headers"), text);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(rights));
    }

    @Test
    void aLineIsAHeader() throws IOException {
        Path file = file("# a token\nAuthorization: Bearer a:b=c\n\n  X-Tenant :one \n");
        assertThat(OtlpHeaders.read(file))
                .hasSize(2)
                .containsEntry("authorization", "Bearer a:b=c")
                .containsEntry("x-tenant", "one");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "secret | is not a header",
                ": secret | is not a header",
                "Authorization: | the header Authorization has no value",
                "Two words: secret | the header 'Two words' is not valid in HTTP, or can't be set",
                "Connection: secret | the header 'Connection' is not valid in HTTP, or can't be set",
                "Ключ: secret | is not valid in HTTP",
                "X: secret\u0001secret | the header 'X' is not valid in HTTP, or can't be set",
                "content-encoding: secret | is set by bpf4j itself",
            })
    void aMistakeIsSaidWithoutTheValue(String line, String message) throws IOException {
        Path file = file("A: b\n" + line + "\n");
        assertThatThrownBy(() -> OtlpHeaders.read(file))
                .isInstanceOf(CommandException.class)
                .hasMessageStartingWith(file + ":2: ")
                .hasMessageContaining(message)
                .hasMessageNotContaining("secret");
    }

    @Test
    void othersMayNeitherReadNorWriteIt() throws IOException {
        for (String rights : new String[] {"rw----r--", "rw-rw----", "rw-----w-"}) {
            Path file = file("A: hunter".getBytes(StandardCharsets.UTF_8), rights);
            assertThatThrownBy(() -> OtlpHeaders.read(file))
                    .as(rights)
                    .isInstanceOf(CommandException.class)
                    .hasMessageContaining("another user can ")
                    .hasMessageNotContaining("hunter");
        }
    }

    @Test
    void aLargeFileABinaryFileAndAFolderAreRefused() throws IOException {
        Path large = file(new byte[OtlpHeaders.MAX_BYTES + 1], "rw-------");
        assertThatThrownBy(() -> OtlpHeaders.read(large)).hasMessageContaining("larger than 65536 bytes");
        Path binary = file(new byte[] {'A', ':', (byte) 0xff}, "rw-------");
        assertThatThrownBy(() -> OtlpHeaders.read(binary)).hasMessageContaining("is not text in UTF-8");
        assertThatThrownBy(() -> OtlpHeaders.read(folder)).hasMessageContaining("is a directory");
    }
}
