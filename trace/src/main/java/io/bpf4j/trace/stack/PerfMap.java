package io.bpf4j.trace.stack;

import io.bpf4j.loader.host.Host;
import io.bpf4j.usdt.internal.process.MappedFile;
import io.bpf4j.usdt.internal.process.ProcessFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Lists of the functions that a just-in-time compiler has compiled, {@code /tmp/perf-PID.map}. {@link Symbolizer} reads
 * such a list if it exists. Node.js writes it with {@code --perf-basic-prof}, .NET with {@code
 * DOTNET_PerfMapEnabled=1}, and a JVM on {@linkplain #request(int) request}.
 *
 * <p>A JVM's stacks are complete only with {@code -XX:+PreserveFramePointer}. Otherwise compiled code uses the frame
 * pointer's register for other values, and a stack ends at its first compiled method.
 *
 * <p>Tested by {@code StacksOfJvmTest}.
 */
public final class PerfMap {
    private static final long PATIENCE_SECONDS = 30;
    private static final int MOST_OUTPUT = 1 << 14;
    private static final String LIBRARY = "/libjvm.so";

    private PerfMap() {}

    /** {@link #request(Host, int)} on the running machine. */
    public static void request(int pid) throws IOException, InterruptedException {
        request(Host.running(), pid);
    }

    /**
     * Whether a process is a JVM that {@link #request} can ask, which is one that has mapped HotSpot's library.
     *
     * @throws IOException if its mappings can't be read
     */
    public static boolean isJvm(Host host, int pid) throws IOException {
        List<MappedFile> files = new ProcessFiles(host).executableFiles(pid);
        return files.stream().anyMatch(file -> file.name().endsWith(LIBRARY));
    }

    /**
     * Has a JVM write the list of the methods that it has compiled so far: {@code jcmd PID Compiler.perfmap} (JDK 17).
     * The list is a snapshot: methods that are compiled later need another request. Waits for the JVM, at most 30
     * seconds.
     *
     * <p>This runs the {@code jcmd} of the JDK that runs this program, because the JVM's attach mechanism has no public
     * API for such commands. It must run as the JVM's user, or as root. {@code jcmd} sends the JVM a signal that would
     * kill another program, so a process without HotSpot's library is refused.
     *
     * @throws IOException if the process is not a HotSpot JVM, if this Java has no {@code jcmd}, or if {@code jcmd}
     *     fails; the message then contains its output
     */
    public static void request(Host host, int pid) throws IOException, InterruptedException {
        if (!isJvm(host, pid)) {
            throw new IOException("process " + pid + " is not a HotSpot JVM: it has not mapped libjvm.so");
        }
        Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
        if (!Files.isExecutable(jcmd)) {
            throw new IOException("the list of compiled methods of process " + pid + " can't be requested: " + jcmd
                    + " does not exist, because this Java is not a JDK; run jcmd " + pid
                    + " Compiler.perfmap of another JDK");
        }
        // A process that only looks like a JVM may answer without end, and jcmd keeps the answer.
        Process process = new ProcessBuilder(
                        jcmd.toString(), "-J-Xmx32m", "-J-XX:+UseSerialGC", Integer.toString(pid), "Compiler.perfmap")
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.PIPE)
                .start();
        // A stopped JVM does not answer. Ending jcmd ends its output, and with it the reading below.
        Executor later = CompletableFuture.delayedExecutor(PATIENCE_SECONDS, TimeUnit.SECONDS);
        CompletableFuture<Void> end = CompletableFuture.runAsync(process::destroyForcibly, later);
        String output;
        try (InputStream answer = process.getInputStream()) {
            output = new String(answer.readNBytes(MOST_OUTPUT), StandardCharsets.UTF_8).strip();
        } finally {
            end.cancel(false);
        }
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new IOException("process " + pid + " did not write the list of its compiled methods: "
                    + (output.isEmpty() ? "jcmd got no answer" : output));
        }
    }
}
