package io.bpf4j.loader.internal.plan;

/**
 * The logger of loads, whose name is documented in docs/embedding.md: what does not make a load fail, but may surprise.
 *
 * <p>Tested by {@code LoggersTest}.
 */
public final class LoaderLog {
    private static final String NAME = "io.bpf4j.loader";

    private LoaderLog() {}

    /** Asked for each time: most loads log nothing, and a logger takes long to make. */
    public static void warn(String message) {
        System.getLogger(NAME).log(System.Logger.Level.WARNING, message);
    }

    /** As {@link #warn}, for developers. */
    public static void debug(String message) {
        System.getLogger(NAME).log(System.Logger.Level.DEBUG, message);
    }
}
