package io.bpf4j.test.support;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command lines by which tests start a JVM of their own JDK. */
public final class Java {
    /**
     * Messages of the JVM go to standard error. By default its warnings are on standard output, among the lines of the
     * program.
     */
    private static final List<String> MESSAGES_TO_STANDARD_ERROR =
            List.of("-XX:+DisplayVMOutputToStderr", "-Xlog:disable", "-Xlog:all=warning:stderr");

    private Java() {}

    /** The program {@code java}. */
    public static String path() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** The command line of a small JVM, on whose standard output are only the lines of its program. */
    public static List<String> command(String... options) {
        List<String> command = new ArrayList<>();
        command.add(path());
        command.addAll(MESSAGES_TO_STANDARD_ERROR);
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:-UsePerfData"));
        command.addAll(List.of(options));
        return command;
    }
}
