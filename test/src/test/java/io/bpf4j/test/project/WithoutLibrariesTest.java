package io.bpf4j.test.project;

import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.READELF;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.BtfFile;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Java;
import io.bpf4j.test.support.Requires;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An embedder without the libraries for compressed files: all else works, and an error names the missing libraries. */
class WithoutLibrariesTest {
    private static final String MISSING =
            " needs the libraries org.apache.commons:commons-compress 1.28 or later and org.tukaani:xz";

    @TempDir
    Path folder;

    /** Takes pairs of arguments, a way of reading and a file; reads each file, and prints the result. */
    static final class Reader {
        private Reader() {}

        public static void main(String[] arguments) {
            for (int i = 0; i < arguments.length; i += 2) {
                System.out.println(outcome(arguments[i], Path.of(arguments[i + 1])));
            }
        }

        private static String outcome(String way, Path file) {
            try {
                return switch (way) {
                    case "object" -> ObjectSpec.read(file).programs().size() + " programs";
                    case "btf" -> BtfFile.read(file).typeCount() + " types";
                    case "debug" -> debug(file);
                    default -> throw new IllegalArgumentException(way);
                };
            } catch (IOException | RuntimeException e) {
                return String.valueOf(e.getMessage());
            }
        }

        private static String debug(Path file) throws IOException {
            try (ElfFile elf = ElfFile.open(file)) {
                return elf.miniDebugInfo().isPresent() + " debug information";
            }
        }
    }

    private List<String> read(String... files) throws IOException, InterruptedException {
        return readWithout("(commons-|xz-).*", files);
    }

    /** @param jars a pattern for the names of the jars that are left out */
    private List<String> readWithout(String jars, String... files) throws IOException, InterruptedException {
        String classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !Path.of(entry).getFileName().toString().matches(jars))
                .collect(Collectors.joining(File.pathSeparator));
        List<String> command = Java.command("-cp", classPath, Reader.class.getName());
        command.addAll(List.of(files));
        Commands.Result result = Commands.run(command);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return result.out().lines().toList();
    }

    private Path file(String name, byte[] content) throws IOException {
        return Files.write(folder.resolve(name), content);
    }

    @Test
    void objectsAndTypesAreRead() throws IOException, InterruptedException {
        String object =
                file("globals.bpf.o", TestObjects.bytes("globals.bpf.o")).toString();
        List<String> lines = read("object", object, "btf", object, "debug", object);
        assertThat(lines.get(0)).matches("[1-9]\\d* programs");
        assertThat(lines.get(1)).matches("[1-9]\\d* types");
        assertThat(lines.get(2)).isEqualTo("false debug information");
    }

    /** Of a library's own libraries some are needed only while it reads, and are not missed before. */
    @Test
    void whatALibraryLacksWhileItReadsIsNamed() throws IOException, InterruptedException {
        byte[] tar = new byte[1024];
        System.arraycopy("ustar".getBytes(StandardCharsets.US_ASCII), 0, tar, 257, 5);
        Path file = file("vmlinux.btf.tar", tar);
        assertThat(readWithout("commons-lang3-.*", "btf", file.toString()))
                .singleElement()
                .satisfies(line -> assertThat(line).contains(file + ": tar" + MISSING, "org/apache/commons/lang3/"));
    }

    /** Each kind of compression, by its first bytes. */
    @Test
    void whatIsCompressedNamesTheLibraries() throws IOException, InterruptedException {
        byte[] tar = new byte[1024];
        System.arraycopy("ustar".getBytes(StandardCharsets.US_ASCII), 0, tar, 257, 5);
        List<Path> files = new ArrayList<>(List.of(
                file("vmlinux.btf.xz", new byte[] {(byte) 0xfd, '7', 'z', 'X', 'Z', 0, 0, 0}),
                file("vmlinux.btf.gz", new byte[] {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0}),
                file("vmlinux.btf.tar", tar)));
        List<String> lines = read(files.stream()
                .flatMap(file -> Stream.of("btf", file.toString()))
                .toArray(String[]::new));
        List<String> formats = List.of("xz", "gzip", "tar");
        for (int i = 0; i < formats.size(); i++) {
            assertThat(lines.get(i)).contains(files.get(i) + ": " + formats.get(i) + MISSING);
        }
    }

    @Test
    void anEntryOfAnArchiveNamesTheLibraries() throws IOException, InterruptedException {
        Path archive = folder.resolve("app.apk");
        byte[] content = TestObjects.bytes("globals.bpf.o");
        CRC32 sum = new CRC32();
        sum.update(content);
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(archive))) {
            ZipEntry entry = new ZipEntry("lib.so");
            entry.setMethod(ZipEntry.STORED);
            entry.setSize(content.length);
            entry.setCrc(sum.getValue());
            zip.putNextEntry(entry);
            zip.write(content);
        }
        assertThat(read("debug", archive + "!/lib.so"))
                .singleElement()
                .satisfies(line -> assertThat(line).contains(archive + "!/lib.so: zip" + MISSING));
    }

    @Test
    @Requires({GCC, READELF})
    void symbolsThatAreCompressedNameTheLibraries() throws IOException, InterruptedException {
        Path source = file("empty.c", new byte[0]);
        Path object = folder.resolve("empty.o");
        Commands.check(List.of("gcc", "-c", "-o", object.toString(), source.toString()));
        Path compressed = file("debug.xz", new byte[] {(byte) 0xfd, '7', 'z', 'X', 'Z', 0, 0, 0});
        Commands.check(List.of("objcopy", "--add-section", ".gnu_debugdata=" + compressed, object.toString()));
        assertThat(read("debug", object.toString()))
                .singleElement()
                .satisfies(line ->
                        assertThat(line).contains(object.toString(), ".gnu_debugdata can't be read: xz" + MISSING));
    }
}
