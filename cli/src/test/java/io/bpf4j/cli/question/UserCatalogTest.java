package io.bpf4j.cli.question;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UserCatalogTest {
    private static final String OWN = "provider shop\nprobe sold(id: u64)\n  Something was sold.\n";

    @TempDir
    private Path folder;

    private static int user() throws IOException {
        return (Integer) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    }

    private static boolean hasOwn(Map<String, String> environment) throws IOException {
        return UserCatalog.read(environment, user()).find("shop", "sold").isPresent();
    }

    private static void write(Path config) throws IOException {
        Files.writeString(Files.createDirectories(config.resolve("bpf4j")).resolve("probes"), OWN);
    }

    @Test
    void theFileIsInTheHomeOfTheEnvironment() throws IOException {
        Map<String, String> home = Map.of("HOME", folder.toString());
        assertThat(hasOwn(home)).isFalse();
        write(folder.resolve(".config"));
        assertThat(hasOwn(home)).isTrue();
        assertThat(UserCatalog.read(home, user()).find("hotspot", "gc__begin")).isPresent();
    }

    @Test
    void theFolderForConfigurationComesFirst() throws IOException {
        write(folder.resolve("x"));
        assertThat(hasOwn(Map.of("HOME", folder.toString()))).isFalse();
        assertThat(hasOwn(Map.of(
                        "HOME",
                        folder.toString(),
                        "XDG_CONFIG_HOME",
                        folder.resolve("x").toString())))
                .isTrue();
    }

    /** Root may have kept another user's environment; a question may start a command. */
    @Test
    void aFileThatOthersCanChangeIsRefused() throws IOException {
        Map<String, String> environment = Map.of("XDG_CONFIG_HOME", folder.toString());
        write(folder);
        Path probes = folder.resolve("bpf4j/probes");
        for (Path part : List.of(probes, probes.getParent())) {
            Set<PosixFilePermission> before = Files.getPosixFilePermissions(part);
            Set<PosixFilePermission> open = EnumSet.copyOf(before);
            open.add(PosixFilePermission.OTHERS_WRITE);
            Files.setPosixFilePermissions(part, open);
            assertThatThrownBy(() -> UserCatalog.read(environment, user()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(probes + ": another user can change this catalog")
                    .hasMessageContaining(part + " can be written by others");
            Files.setPosixFilePermissions(part, before);
        }
        assertThat(hasOwn(environment)).isTrue();
    }

    /** Only root can give a file away, and trusts itself; another user runs as somebody else instead. */
    @Test
    void aFileOfAnotherUserIsRefused() throws IOException {
        write(folder);
        Path probes = folder.resolve("bpf4j/probes");
        int owner = user() == 0 ? 65_534 : user();
        int other = user() == 0 ? 0 : user() + 1;
        if (user() == 0) {
            Files.setAttribute(probes, "unix:uid", owner);
        }
        assertThatThrownBy(() -> UserCatalog.read(Map.of("XDG_CONFIG_HOME", folder.toString()), other))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(probes + " belongs to user " + owner + "; bpf4j runs as user " + other);
    }
}
