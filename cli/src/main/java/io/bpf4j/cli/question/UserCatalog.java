package io.bpf4j.cli.question;

import io.bpf4j.cli.failure.OwnFile;
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
     * Reads {@code bpf4j/probes} in {@code $XDG_CONFIG_HOME} or in {@code ~/.config}, if it exists. A question of the file
     * may start a command. So nobody but root and the user of this process may be able to change the file: root may have
     * kept the environment of another user.
     *
     * @throws io.bpf4j.trace.catalog.CatalogException if the file breaks the rules of its format
     * @throws IOException if the file exists and can't be read, or another user can change it
     */
    public static Catalog read() throws IOException {
        return read(System.getenv(), OwnFile.user());
    }

    static Catalog read(Map<String, String> environment, int user) throws IOException {
        Path file = folder(environment).resolve("bpf4j/probes");
        return Files.exists(file) ? Catalog.builtIn().with(Catalog.read(own(file, user))) : Catalog.builtIn();
    }

    /** The path without links, on which no other user can put another file. */
    private static Path own(Path file, int user) throws IOException {
        return OwnFile.real(
                file,
                user,
                why -> new IOException(file
                        + ": another user can change this catalog, whose questions may start commands: " + why
                        + ", and XDG_CONFIG_HOME sets the folder that it looks in"));
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
