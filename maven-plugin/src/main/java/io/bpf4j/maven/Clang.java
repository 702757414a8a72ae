package io.bpf4j.maven;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugin.logging.Log;
import org.jspecify.annotations.Nullable;

/**
 * The compiler, which is run in the folder of the sources.
 *
 * <p>A source is compiled twice, because a BPF object has the byte order of its machine. The objects are current as
 * long as none of their inputs has changed: the compiler lists the files that it has read ({@code -MD}), and {@link
 * Fingerprint} keeps the hashes of their contents.
 */
final class Clang {
    /** Instructions of Linux 5.1, for kernels from bpf4j's oldest on; debugging information for BTF. */
    private static final List<String> ARGUMENTS = List.of(
            "-mcpu=v3", "-O2", "-g", "-gno-record-command-line", "-fno-ident", "-fdebug-compilation-dir=.", "-Wall");

    private final Path program;
    private final Path sources;
    private final List<String> arguments;
    private final Log log;

    enum Outcome {
        CURRENT,
        COMPILED,
        REFUSED
    }

    Clang(Path program, Path sources, List<String> arguments, Log log) {
        this.program = program;
        this.sources = sources;
        this.arguments = List.copyOf(arguments);
        this.log = log;
    }

    /**
     * The compiler's file.
     *
     * @param configured a name or path; null for the first of the usual names
     * @param path the variable {@code PATH}
     */
    static Path find(@Nullable String configured, Path baseDirectory, @Nullable String path)
            throws MojoFailureException {
        if (configured != null && configured.contains("/")) {
            Path file = baseDirectory.resolve(configured);
            if (Files.isExecutable(file) && !Files.isDirectory(file)) {
                return file;
            }
            throw new MojoFailureException(file + ", which <clang> or -Dbpf4j.clang names, is not an executable file");
        }
        Stream<String> names = configured != null
                ? Stream.of(configured)
                : Stream.concat(
                        Stream.of("clang"),
                        IntStream.iterate(30, n -> n >= 12, n -> n - 1).mapToObj(n -> "clang-" + n));
        List<String> folders = path == null ? List.of() : List.of(path.split(":"));
        Optional<Path> found = names.flatMap(name ->
                        folders.stream().filter(folder -> !folder.isEmpty()).map(folder -> Path.of(folder, name)))
                .filter(file -> Files.isExecutable(file) && !Files.isDirectory(file))
                .findFirst();
        return found.orElseThrow(() -> new MojoFailureException("BPF programs are compiled by clang, and there is no "
                + (configured == null ? "clang or clang-N" : configured)
                + " on PATH: install it (Debian: apt-get install clang), or name another by <clang> or -Dbpf4j.clang"));
    }

    /**
     * Compiles a source for both byte orders, unless its objects are current.
     *
     * @param state a path for the fingerprints of the objects
     */
    Outcome compile(Path source, Path little, Path big, Path state) throws IOException, InterruptedException {
        boolean current = true;
        for (boolean isBig : new boolean[] {false, true}) {
            Path object = isBig ? big : little;
            Path fingerprint = state.resolveSibling(state.getFileName() + (isBig ? ".big" : ".little"));
            List<String> command = command(source, isBig ? "bpfeb" : "bpfel");
            if (Files.isRegularFile(object) && Fingerprint.isCurrent(fingerprint, key(command))) {
                continue;
            }
            current = false;
            if (!compile(command, object, fingerprint)) {
                return Outcome.REFUSED;
            }
        }
        return current ? Outcome.CURRENT : Outcome.COMPILED;
    }

    private List<String> command(Path source, String target) {
        List<String> command = new ArrayList<>(List.of(program.toString(), "-target", target));
        command.addAll(ARGUMENTS);
        command.addAll(arguments);
        command.addAll(List.of("-c", operand(sources.relativize(source))));
        return command;
    }

    /** The name of a source as an argument: one that begins with - would be an option, with @ a file of options. */
    static String operand(Path source) {
        String name = source.toString();
        return name.startsWith("-") || name.startsWith("@") ? "./" + name : name;
    }

    /** What the objects depend on besides the files: the command, and the installed compiler. */
    private String key(List<String> command) throws IOException {
        return String.join("\n", command) + "\n" + Files.size(program) + " " + Files.getLastModifiedTime(program);
    }

    private boolean compile(List<String> command, Path object, Path fingerprint)
            throws IOException, InterruptedException {
        Files.createDirectories(object.getParent());
        Files.createDirectories(fingerprint.getParent());
        // A build that is killed leaves neither an incomplete object nor an old one that looks current.
        Files.deleteIfExists(fingerprint);
        Path made = fingerprint.resolveSibling(fingerprint.getFileName() + ".o");
        Path read = fingerprint.resolveSibling(fingerprint.getFileName() + ".d");
        List<String> whole = new ArrayList<>(command);
        whole.addAll(List.of("-o", made.toString(), "-MD", "-MF", read.toString()));
        log.debug(String.join(" ", whole));
        if (!run(whole)) {
            return false;
        }
        List<Path> inputs = new ArrayList<>();
        for (String input : DependencyFile.inputs(Files.readString(read))) {
            inputs.add(sources.resolve(input));
        }
        Files.delete(read);
        Files.move(made, object, StandardCopyOption.REPLACE_EXISTING);
        inputs.add(object);
        Fingerprint.write(fingerprint, key(command), inputs);
        return true;
    }

    /** Runs the compiler; its messages go to the log as they are. */
    private boolean run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .directory(sources.toFile())
                .redirectErrorStream(true)
                .redirectInput(Path.of("/dev/null").toFile())
                .start();
        try {
            String messages = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            boolean success = process.waitFor() == 0;
            messages.lines().forEach(success ? log::warn : log::error);
            return success;
        } finally {
            process.destroy();
        }
    }
}
