package io.bpf4j.test.support;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.commons.compress.compressors.xz.XZCompressorOutputStream;

/**
 * The program and library under {@code test/src/test/c/functions}: functions that share a name, are static, have
 * versions, or are chosen at run time. The library comes whole and stripped in several ways. <em>Confined.</em>
 */
public final class AnswerProgram extends LineProcess {
    /** Where the symbols of the library are. */
    public enum Symbols {
        /** In the library. */
        WHOLE,
        /** Stripped: the exported ones only. */
        STRIPPED,
        /** In a compressed ELF file within the library. */
        MINI,
        /** In a file beside the library, which its debug link names. */
        LINKED
    }

    private final Path folder;

    private AnswerProgram(Path folder) throws IOException {
        super(new ProcessBuilder(folder.resolve("caller").toString()));
        this.folder = folder;
    }

    /** Compiles and starts it. */
    public static AnswerProgram start(Symbols symbols) throws IOException, InterruptedException {
        Path folder = TargetProgram.temporaryFolder();
        Path sources = TargetProgram.testModule().resolve("src/test/c/functions");
        Path library = folder.resolve("libanswer.so");
        gcc(
                "-g",
                "-fPIC",
                "-shared",
                // Tests put debug files into a folder of the machine by it.
                "-Wl,--build-id=0x" + UUID.randomUUID().toString().replace("-", ""),
                "-Wl,--version-script=" + sources.resolve("answer.map"),
                "-o",
                library.toString(),
                sources.resolve("answer.c").toString());
        gcc(
                "-o",
                folder.resolve("caller").toString(),
                sources.resolve("caller.c").toString(),
                sources.resolve("twin.c").toString(),
                "-L" + folder,
                "-lanswer",
                "-Wl,-rpath," + folder);
        strip(library, symbols);
        return new AnswerProgram(folder);
    }

    private static void gcc(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("gcc", "-Wall", "-Wextra", "-Werror", "-O2"));
        command.addAll(List.of(arguments));
        Commands.check(command);
    }

    private static void strip(Path library, Symbols symbols) throws IOException, InterruptedException {
        if (symbols == Symbols.WHOLE) {
            return;
        }
        Path debug = library.resolveSibling("libanswer.debug");
        Commands.check(List.of("objcopy", "--only-keep-debug", library.toString(), debug.toString()));
        Commands.check(List.of("strip", "--strip-all", library.toString()));
        switch (symbols) {
            case WHOLE, STRIPPED -> Files.delete(debug);
            case MINI -> {
                // The symbols without the rest, as Fedora's find-debuginfo makes them.
                Commands.check(List.of("strip", "--strip-debug", debug.toString()));
                Path compressed = library.resolveSibling("mini.xz");
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                try (OutputStream xz = new XZCompressorOutputStream(bytes)) {
                    xz.write(Files.readAllBytes(debug));
                }
                Files.write(compressed, bytes.toByteArray());
                Commands.check(List.of("objcopy", "--add-section", ".gnu_debugdata=" + compressed, library.toString()));
                Files.delete(debug);
            }
            case LINKED -> {
                Commands.check(List.of("objcopy", "--add-gnu-debuglink=" + debug, library.toString()));
                // Not found by its build ID, since that is looked for below /usr/lib/debug.
            }
        }
    }

    public Path program() {
        return folder.resolve("caller");
    }

    public Path library() {
        return folder.resolve("libanswer.so");
    }
}
