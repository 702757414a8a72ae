package io.bpf4j.elf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Real files: the virtual machine that runs this, and whatever else the machine has. */
class HostFilesTest {
    private static final Path LIBJVM = Path.of(System.getProperty("java.home"), "lib/server/libjvm.so");

    @Test
    void theRunningVirtualMachine() throws IOException {
        try (ElfFile elf = ElfFile.open(LIBJVM)) {
            assertThat(elf.header().type()).isEqualTo(ElfHeader.ET_DYN);
            Symbol create = elf.symbols("JNI_CreateJavaVM").getFirst();
            assertThat(create.isFunction()).isTrue();
            assertThat(elf.section(create.sectionIndex()).name()).isEqualTo(".text");
            Section text = elf.section(".text").orElseThrow();
            assertThat(elf.fileOffset(create.value()).orElseThrow())
                    .isEqualTo(create.value() - text.address() + text.offset());
            assertThat(elf.dynamicSymbols()).anyMatch(symbol -> symbol.name().equals("JNI_CreateJavaVM"));
            assertThat(elf.symbols("no_such_symbol")).isEmpty();
        }
    }

    @Test
    void manyThreadsReadOneFile() throws IOException {
        try (ElfFile elf = ElfFile.open(LIBJVM)) {
            long[] counts = IntStream.range(0, 8)
                    .parallel()
                    .mapToLong(_ -> elf.symbols("JNI_CreateJavaVM").size()
                            + elf.notes().size()
                            + elf.symbols().toList().size())
                    .distinct()
                    .toArray();
            assertThat(counts).hasSize(1);
        }
    }

    /**
     * Every ELF file of the JDK and of the system's programs is sound. Others may install packages meanwhile: of a file
     * that is gone in the end, or another one, nothing can be said.
     */
    @Test
    void everyProgram() throws IOException {
        Map<Path, String> failures = new TreeMap<>();
        Map<Path, FileIdentity> before = new HashMap<>();
        int[] files = new int[1];
        for (Path directory : new Path[] {Path.of(System.getProperty("java.home"), "lib"), Path.of("/usr/bin")}) {
            try (Stream<Path> paths = Files.list(directory)) {
                paths.filter(HostFilesTest::isElf).limit(300).forEach(path -> {
                    files[0]++;
                    try {
                        before.put(path, FileIdentity.of(path));
                        readAll(path);
                    } catch (IOException | RuntimeException e) {
                        failures.put(path, e.toString());
                    }
                });
            }
        }
        failures.keySet().removeIf(path -> hasChanged(path, before));
        assertThat(failures).isEmpty();
        assertThat(files[0]).isPositive();
    }

    private static void readAll(Path path) throws IOException {
        try (ElfFile elf = ElfFile.open(path)) {
            elf.notes();
            elf.buildId();
            elf.debugLink();
            elf.symbols("main");
            for (Section section : elf.sections()) {
                elf.data(section);
            }
        }
    }

    private static boolean hasChanged(Path path, Map<Path, FileIdentity> before) {
        try {
            return !FileIdentity.of(path).equals(before.get(path));
        } catch (IOException e) {
            return true;
        }
    }

    private static boolean isElf(Path path) {
        if (!Files.isRegularFile(path) || !Files.isReadable(path)) {
            return false;
        }
        // dpkg writes a file under such a name, and renames it when it is complete.
        if (String.valueOf(path.getFileName()).contains(".dpkg-")) {
            return false;
        }
        try (var in = Files.newInputStream(path)) {
            byte[] magic = in.readNBytes(4);
            return magic.length == 4 && magic[0] == 0x7f && magic[1] == 'E' && magic[2] == 'L' && magic[3] == 'F';
        } catch (IOException e) {
            return false; // gone meanwhile
        }
    }
}
