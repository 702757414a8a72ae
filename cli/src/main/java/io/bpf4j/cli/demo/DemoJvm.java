package io.bpf4j.cli.demo;

import io.bpf4j.cli.failure.CommandException;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.CodeSource;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The small JVM that the demo traces. It is the Java that runs this command, with {@link DemoWorkload} as its program.
 *
 * <p>Its heap is bounded, so that the demo runs on a small machine, and it uses the serial collector, which works in
 * every container. An instance owns the process: closing it ends the process. <i>Confined.</i>
 */
public final class DemoJvm implements AutoCloseable {
    private final Process process;

    private DemoJvm(Process process) {
        this.process = process;
    }

    /**
     * Starts the JVM and waits until it is ready. It starts to work when {@link #go} is called.
     *
     * @param work the duration of its work
     */
    public static DemoJvm start(Duration work) {
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        ProcessBuilder builder = new ProcessBuilder(
                        java.toString(),
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        // The first byte on standard output means that the JVM is ready, so warnings must not go there.
                        "-Xlog:disable",
                        "-Xlog:all=warning:stderr",
                        "-cp",
                        ownCode().toString(),
                        DemoWorkload.class.getName(),
                        Long.toString(work.toMillis()))
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        // Options for this JVM must not apply to the demo's JVM, which would report them on its standard error.
        builder.environment().remove("JAVA_TOOL_OPTIONS");
        builder.environment().remove("JDK_JAVA_OPTIONS");
        try {
            DemoJvm jvm = new DemoJvm(builder.start());
            if (jvm.process.getInputStream().read() < 0) {
                jvm.close();
                throw new CommandException("the JVM to trace ended before it was ready; it was started as "
                        + String.join(" ", builder.command()));
            }
            return jvm;
        } catch (IOException e) {
            throw new CommandException("start " + java + ": " + e.getMessage(), e);
        }
    }

    /** The library that holds the JVM's probes. */
    public static Path library() {
        return Path.of(System.getProperty("java.home"), "lib", "server", "libjvm.so");
    }

    public int pid() {
        return Math.toIntExact(process.pid());
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Lets the JVM start its work. */
    public void go() {
        try {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new CommandException("the JVM to trace ended before it was traced", e);
        }
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(2, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    /** The jar or the directory of classes that this class was loaded from. */
    private static Path ownCode() {
        CodeSource source = DemoWorkload.class.getProtectionDomain().getCodeSource();
        if (source == null) {
            throw new CommandException("the demo needs bpf4j as a jar or a directory of classes, and this is neither");
        }
        try {
            return Path.of(source.getLocation().toURI());
        } catch (URISyntaxException | IllegalArgumentException e) {
            throw new CommandException("the demo can't use bpf4j's classes from " + source.getLocation(), e);
        }
    }
}
