package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** A JVM that runs {@link CallsMain} and compiles its two calls when they are called first. <em>Confined.</em> */
public final class CallsJvm extends LineProcess {
    /** @param options of the JVM besides those that it needs */
    public CallsJvm(String... options) throws IOException {
        super(new ProcessBuilder(Stream.of(
                        Java.command(options).stream(),
                        Stream.of(
                                "-Xmx64m",
                                "-XX:+PreserveFramePointer",
                                // Compiled at the first call, these alone, and each on its own.
                                "-Xcomp",
                                "-XX:CompileCommand=quiet",
                                "-XX:CompileCommand=compileonly," + CallsMain.class.getName() + "::*Call",
                                "-XX:CompileCommand=dontinline," + CallsMain.class.getName() + "::*Call",
                                "-cp",
                                System.getProperty("java.class.path"),
                                CallsMain.class.getName()))
                .flatMap(part -> part)
                .toList()));
    }

    @Override
    public void close() {
        super.close();
        try {
            Files.deleteIfExists(Path.of("/tmp/perf-" + pid() + ".map"));
        } catch (IOException e) {
            // A leftover under /tmp is no reason to fail a test.
        }
    }
}
