package io.bpf4j.cli.question;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UserCatalogTest {
    private static final String OWN = "provider shop\nprobe sold(id: u64)\n  Something was sold.\n";

    @TempDir
    private Path folder;

    private static boolean hasOwn(Map<String, String> environment) throws IOException {
        return UserCatalog.read(environment).find("shop", "sold").isPresent();
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
        assertThat(UserCatalog.read(home).find("hotspot", "gc__begin")).isPresent();
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
}
