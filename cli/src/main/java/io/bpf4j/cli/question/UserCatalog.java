package io.bpf4j.cli.question;

import io.bpf4j.trace.catalog.Catalog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * The catalog of probes: the user's own entries, then those of bpf4j.
 *
 * <p>Tested by {@code UserCatalogTest}.
 */
public final class UserCatalog {
    private UserCatalog() {}

    /**
     * Reads {@code bpf4j/probes} in {@code $XDG_CONFIG_HOME} or in {@code ~/.config}, if it exists.
     *
     * @throws io.bpf4j.trace.catalog.CatalogException if the file breaks the rules of its format
     * @throws IOException if the file exists and can't be read
     */
    public static Catalog read() throws IOException {
        return read(System.getenv());
    }

    static Catalog read(Map<String, String> environment) throws IOException {
        Path file = folder(environment).resolve("bpf4j/probes");
        return Files.exists(file) ? Catalog.builtIn().with(Catalog.read(file)) : Catalog.builtIn();
    }

    /** The folder by the XDG base directory specification. Java's home directory would ignore $HOME. */
    private static Path folder(Map<String, String> environment) {
        String given = environment.getOrDefault("XDG_CONFIG_HOME", "");
        if (!given.isEmpty()) {
            return Path.of(given);
        }
        String home = environment.getOrDefault("HOME", "");
        return Path.of(home.isEmpty() ? System.getProperty("user.home", "/") : home)
                .resolve(".config");
    }
}
