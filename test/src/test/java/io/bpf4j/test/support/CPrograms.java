package io.bpf4j.test.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Compiles the C sources under {@code test/src/test/c} when a test first asks for them, and keeps the result below
 * {@code test/target}, named by what it is made from: sources, flags and compiler. So a virtual machine, where a
 * compiler takes an order of magnitude longer, finds what the machine that made its disk has compiled already.
 *
 * <p>Each JVM gives its tests a copy of its own. A probe in a file fires for all processes that run it, and its semaphore
 * is raised in all of them; so a file that two JVMs run would be probed by both.
 *
 * <p>That may be another machine: the system property {@code bpf4j.test.compiler} is the command of a compiler for it,
 * and {@code bpf4j.test.compiled-by} tells the guest, which has a gcc of its own at most, by which one its programs are
 * named.
 */
public final class CPrograms {
    /**
     * The flag for programs whose stacks the kernel can walk: by frame pointers; on s390x by the chain of frames, as the
     * ABI calls it.
     */
    public static final String WALKABLE =
            System.getProperty("os.arch").equals("s390x") ? "-mbackchain" : "-fno-omit-frame-pointer";

    private static final List<String> COMPILER =
            List.of(System.getProperty("bpf4j.test.compiler", "gcc").split(" "));

    /**
     * The linkers of riscv64 and s390x put the end of the code and the start of the data into one page of a small file.
     * It is mapped twice then, and the kernel raises semaphores once for each mapping that a site is in.
     */
    private static final String SEPARATE_CODE = "-Wl,-z,separate-code";

    private static final Map<List<String>, Path> KNOWN = new ConcurrentHashMap<>();

    private CPrograms() {}

    /** Compiles what most tests use, before there is a test: for a machine that is made from this one's folders. */
    public static void main(String[] arguments) {
        for (String flags : List.of("-O0", "-O2", "-O2 -no-pie", "-O2 -DROUNDS=1")) {
            compile("", flags.split(" "));
        }
        compile("sites", "-O2", "-DSTRINGS=200", "-DROUNDS=50");
        compile("sites", "-O2", "-DSTRINGS=300", "-DROUNDS=1");
        compile("library", "-O2", "-shared", "-fPIC");
        compile("library", "-O2", "-shared", "-fPIC", "-DREFUSED");
        compile("token", "-O2");
        compile("congestion", "-O2");
        compile("netkit", "-O2");
        compile("shared", "-O2");
    }

    /**
     * The program made of all sources in a folder, the same file each time in this JVM: a test that changes it works on a
     * copy.
     *
     * @param folder below {@code src/test/c}; empty for that folder itself
     * @param flags of gcc
     */
    public static Path compile(String folder, String... flags) {
        List<String> key = new ArrayList<>(List.of(folder));
        key.addAll(List.of(flags));
        return KNOWN.computeIfAbsent(List.copyOf(key), _ -> build(folder, List.of(flags)));
    }

    /** The program of {@code src/test/c/asked}, whose events are known and whose stacks can be walked. */
    public static Path asked() {
        // On s390x each function with a frame is in the chain, that of a leaf, too.
        return System.getProperty("os.arch").equals("s390x")
                ? compile("asked", "-O2", WALKABLE)
                : compile("asked", "-O2", WALKABLE, "-mno-omit-leaf-frame-pointer");
    }

    private static Path build(String folder, List<String> flags) {
        try {
            Path sources = TargetProgram.testModule().resolve("src/test/c").resolve(folder);
            Path program = TargetProgram.testModule()
                    .resolve("target/c")
                    .resolve(key(sources, flags))
                    .resolve(folder.isEmpty() ? "target" : folder);
            if (!Files.exists(program)) {
                compile(sources, flags, program);
            }
            return Files.copy(
                    program,
                    TargetProgram.temporaryFolder().resolve(program.getFileName()),
                    StandardCopyOption.COPY_ATTRIBUTES);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while compiling C sources", e);
        }
    }

    private static void compile(Path sources, List<String> flags, Path program)
            throws IOException, InterruptedException {
        Path made = TargetProgram.temporaryFolder().resolve("made");
        List<String> command = new ArrayList<>(COMPILER);
        command.addAll(List.of("-Wall", "-Wextra", "-Werror", SEPARATE_CODE));
        command.addAll(flags);
        command.addAll(List.of("-o", made.toString()));
        filesIn(sources).stream()
                .map(Path::toString)
                .filter(s -> s.endsWith(".c"))
                .forEach(command::add);
        command.add("-lpthread");
        Commands.check(command);
        Files.createDirectories(program.getParent());
        Path beside = Files.createTempFile(program.getParent(), "making", "");
        try {
            Files.copy(made, beside, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
            // Never over one that another run made meanwhile, and may have started.
            Files.createLink(program, beside);
        } catch (FileAlreadyExistsException e) {
            // Theirs is as good as ours.
            return;
        } finally {
            Files.delete(beside);
        }
    }

    private static String key(Path sources, List<String> flags) throws IOException, InterruptedException {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update((flags + SEPARATE_CODE).getBytes(StandardCharsets.UTF_8));
            digest.update(compiledBy().getBytes(StandardCharsets.UTF_8));
            for (Path file : filesIn(TargetProgram.testModule().resolve("src/test/c"))) {
                digest.update(Files.readAllBytes(file));
            }
            for (Path file : filesIn(sources)) {
                digest.update(Files.readAllBytes(file));
            }
            return HexFormat.of().formatHex(digest.digest(), 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The machine that the compiler is for, and its version: {@code aarch64-linux-gnu 12.2.0}. */
    private static String compiledBy() throws IOException, InterruptedException {
        String given = System.getProperty("bpf4j.test.compiled-by");
        return given != null ? given : ask("-dumpmachine") + " " + ask("-dumpfullversion");
    }

    private static String ask(String option) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(COMPILER);
        command.add(option);
        return Commands.check(command).strip();
    }

    private static List<Path> filesIn(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        }
    }
}
