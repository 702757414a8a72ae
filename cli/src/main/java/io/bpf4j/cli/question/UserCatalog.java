package io.bpf4j.cli.question;

import io.bpf4j.trace.catalog.Catalog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** The catalog of probes, with the user's own entries before those that bpf4j has. */
public final class UserCatalog {
    private UserCatalog() {}

    /**
     * Reads {@code bpf4j/probes} in {@code $XDG_CONFIG_HOME}, or in {@code ~/.config}, if it is there.
     *
     * @throws io.bpf4j.trace.catalog.CatalogException if the file breaks the rules of its format
     * @throws IOException if it can't be read
     */
    public static Catalog read() throws IOException {
        Path file = folder().resolve("bpf4j/probes");
        return Files.exists(file) ? Catalog.builtIn().with(Catalog.read(file)) : Catalog.builtIn();
    }

    private static Path folder() {
        @Nullable String given = System.getenv("XDG_CONFIG_HOME");
        return given != null && !given.isEmpty()
                ? Path.of(given)
                : Path.of(System.getProperty("user.home", "/")).resolve(".config");
    }
}
