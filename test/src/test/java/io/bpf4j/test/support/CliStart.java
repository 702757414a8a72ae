package io.bpf4j.test.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * How tests start the command: from their own class path and with an AOT cache, as {@code ./bpf4j} does from its
 * modules, and with its stack maps in picocli's classes, which a cache has not otherwise. A cache that was made once takes
 * more than half of the time off each of some thousand starts.
 *
 * <p>The JVM makes caches of jars only. Where the class path has folders of classes, as in a development environment,
 * the command starts without one.
 */
final class CliStart {
    /** The jars of the command, by the beginning of their names. */
    private static final List<String> NEEDED = List.of(
            "bpf4j-elf",
            "bpf4j-btf",
            "bpf4j-objects",
            "bpf4j-sys",
            "bpf4j-loader",
            "bpf4j-process",
            "bpf4j-usdt",
            "bpf4j-trace",
            "bpf4j-metrics",
            "bpf4j-bindings",
            "bpf4j-cli",
            "commons-[a-z0-9]+",
            "javapoet",
            "opentelemetry-(api|common|context|exporter-[a-z-]+|sdk-[a-z-]+)",
            "picocli",
            "prometheus-metrics-[a-z-]+",
            "xz");

    private static final String MAIN = "io.bpf4j.cli.Main";

    /** Up to the arguments. */
    static final List<String> COMMAND = command();

    private CliStart() {}

    /** Up to the arguments of another main class, which has all of the tests in its class path. */
    static List<String> command(Class<?> main) {
        List<String> command = new ArrayList<>(COMMAND);
        // A cache is also used where the class path only begins as it did when the cache was made.
        int classPath = command.size() - 2;
        command.set(classPath, command.get(classPath) + ":" + System.getProperty("java.class.path"));
        command.set(classPath + 1, main.getName());
        return command;
    }

    private static List<String> command() {
        List<Path> jars = jars();
        List<String> command = new ArrayList<>(java());
        if (jars.isEmpty()) {
            command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        } else {
            command.addAll(start(jars));
        }
        command.add(MAIN);
        return List.copyOf(command);
    }

    /** The options of {@code ./bpf4j}. */
    private static List<String> java() {
        return Java.command("--enable-native-access=ALL-UNNAMED", "-XX:TieredStopAtLevel=1");
    }

    /** Those that the command needs, in the order of the class path; none where the command is a folder of classes. */
    private static List<Path> jars() {
        List<Path> entries = Arrays.stream(System.getProperty("java.class.path").split(":"))
                .distinct()
                .map(Path::of)
                .toList();
        if (entries.stream().anyMatch(entry -> Files.isDirectory(entry.resolve("io/bpf4j/cli")))) {
            return List.of();
        }
        List<Path> jars = new ArrayList<>();
        for (String name : NEEDED) {
            List<Path> found = entries.stream()
                    .filter(entry -> String.valueOf(entry.getFileName()).matches(name + "-[0-9].*(?<!-tests)\\.jar"))
                    .toList();
            if (found.isEmpty()) {
                // Without it each start would take twice its time, and nobody would know why.
                throw new IllegalStateException("no jar of " + name + " in the class path of the tests: " + entries);
            }
            jars.addAll(found);
        }
        return jars.stream().sorted(Comparator.comparingInt(entries::indexOf)).toList();
    }

    private static String classPath(List<Path> jars) {
        return String.join(":", jars.stream().map(Path::toString).toList());
    }

    /** The options with the class path, and with a cache, which whoever asks first of the test JVMs of this checkout makes. */
    private static List<String> start(List<Path> jars) {
        try {
            Path folder = Files.createDirectories(TargetProgram.testModule().resolve("target/cli-start"));
            String state = Integer.toHexString(state(jars).hashCode());
            Path cache = folder.resolve("cache-" + state);
            Path picocli = folder.resolve("picocli-" + state + ".jar");
            String classPath = classPath(jars.stream()
                    .map(jar -> String.valueOf(jar.getFileName()).startsWith("picocli-") ? picocli : jar)
                    .toList());
            try (FileChannel channel = FileChannel.open(
                            folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock _ = channel.lock()) {
                if (!Files.exists(cache)) {
                    addStackMaps(jars, picocli);
                    make(cache, classPath);
                }
            }
            List<String> options = new ArrayList<>();
            // Without it the JVM makes no caches.
            if (Files.size(cache) > 0) {
                // The JVM does without a cache that does not fit; it need not say so.
                options.addAll(List.of("-XX:AOTCache=" + cache, "-Xlog:aot*=off:stderr", "-Xlog:cds*=off:stderr"));
            }
            options.addAll(List.of("-cp", classPath));
            return options;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** As {@code ./bpf4j} does: a JVM keeps in its cache only classes that have them, and picocli's are older. */
    private static void addStackMaps(List<Path> jars, Path to) throws IOException, InterruptedException {
        Path picocli = jars.stream()
                .filter(jar -> String.valueOf(jar.getFileName()).startsWith("picocli-"))
                .findFirst()
                .orElseThrow();
        Path program = TargetProgram.testModule().resolve("../cli/start/StackMaps.java");
        Commands.check(Java.command(program.toString(), picocli.toString(), to.toString()));
    }

    /** What a cache is made from: jars that were built again need another one, and so does another JVM. */
    private static String state(List<Path> jars) throws IOException {
        StringBuilder state = new StringBuilder(System.getProperty("java.home"));
        state.append(System.getProperty("java.vm.version"));
        for (Path jar : jars) {
            state.append(jar).append(Files.size(jar)).append(Files.getLastModifiedTime(jar));
        }
        return state.toString();
    }

    /** Leaves an empty file if there is no cache to be had. */
    private static void make(Path cache, String classPath) throws IOException, InterruptedException {
        Path making = cache.resolveSibling(cache.getFileName() + ".making");
        List<String> command = new ArrayList<>(java());
        command.addAll(List.of("-XX:AOTCacheOutput=" + making, "-cp", classPath, "io.bpf4j.cli.Training"));
        Commands.Result result = Commands.run(command);
        if (result.exitCode() == 0 && Files.exists(making)) {
            Files.move(making, cache);
        } else {
            Files.createFile(cache);
        }
    }
}
