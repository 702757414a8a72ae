package io.bpf4j.test.support;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How tests start a JVM of their own JDK. */
public final class Java {
    /**
     * What the JVM itself prints goes to standard error. By default its warnings are lines of standard output, among
     * those of the program.
     */
    private static final List<String> OUTPUT_IS_THE_PROGRAMS =
            List.of("-XX:+DisplayVMOutputToStderr", "-Xlog:disable", "-Xlog:all=warning:stderr");

    private Java() {}

    /** The program {@code java}. */
    public static String path() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** A small JVM whose standard output has the lines of its program only. */
    public static List<String> command(String... options) {
        List<String> command = new ArrayList<>();
        command.add(path());
        command.addAll(OUTPUT_IS_THE_PROGRAMS);
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:-UsePerfData"));
        command.addAll(List.of(options));
        return command;
    }
}
