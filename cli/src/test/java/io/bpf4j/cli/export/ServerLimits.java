package io.bpf4j.cli.export;

/**
 * The limits of the JDK's HTTP server in tests. It reads them once, with the first server of a JVM, and in which order test
 * classes run is not known; so each class that starts a server sets them, before.
 */
public final class ServerLimits {
    private static final String SECONDS = "5";

    private ServerLimits() {}

    /** A request has five seconds, and an answer, too. */
    public static void set() {
        System.setProperty("sun.net.httpserver.maxReqTime", SECONDS);
        System.setProperty("sun.net.httpserver.maxRspTime", SECONDS);
    }
}
