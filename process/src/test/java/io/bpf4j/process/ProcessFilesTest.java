package io.bpf4j.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.sys.Host;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessFilesTest {
    @TempDir
    Path directory;

    @Test
    void thisProcessRunsLibjvm() throws IOException {
        int pid = (int) ProcessHandle.current().pid();
        ProcessFiles files = new ProcessFiles(Host.running());
        List<MappedFile> mapped = files.executableFiles(pid);
        assertThat(mapped).anySatisfy(f -> assertThat(f.name()).endsWith("/libjvm.so"));
        assertThat(mapped).extracting(MappedFile::name).doesNotHaveDuplicates();
        // A library that was replaced since this JVM has started has no name any more.
        List<MappedFile> named =
                mapped.stream().filter(f -> !f.mapping().deleted()).toList();
        assertThat(named).isNotEmpty();
        for (MappedFile file : named) {
            try (ProcessFiles.Opened opened = files.open(file)) {
                assertThat(opened.path()).hasToString(file.name());
                assertThat(opened.file().identity()).isEqualTo(FileIdentity.of(Path.of(file.name())));
            }
        }
    }

    /** Of another user's process: it may map one file, with a name as long as there is, as often as there is room. */
    @Test
    void mappingsOfOneFileShareItsName() throws IOException {
        String name = "/" + "x".repeat(4000);
        maps(lines(1000, _ -> name));
        List<MappedRange> mappings = processes().mappings(7, MappedRange::executable);
        assertThat(mappings)
                .hasSize(1000)
                .allSatisfy(mapping ->
                        assertThat(mapping.text()).isSameAs(mappings.getFirst().text()));
        assertThat(mappings.getLast().start()).isEqualTo(0x1000 * 1000);
        maps(lines(1000, i -> name + i % 2));
        assertThatThrownBy(() -> processes().mappings(7, MappedRange::executable))
                .isInstanceOf(TooMuchException.class)
                .hasMessageContaining(
                        "process 7 is left out: the names of the files that it has mapped have more than");
    }

    private static String lines(int count, IntFunction<String> name) {
        return IntStream.rangeClosed(1, count)
                .mapToObj(
                        i -> String.format("%x-%x r-xp 0 08:01 5 %s%n", 0x1000 * i, 0x1000 * i + 0x1000, name.apply(i)))
                .collect(Collectors.joining());
    }

    private ProcessFiles processes() {
        return new ProcessFiles(Host.running().withProc(directory));
    }

    private void maps(String lines) throws IOException {
        Files.createDirectories(directory.resolve("7"));
        Files.writeString(directory.resolve("7/maps"), lines);
    }

    @Test
    void thePlainPathIsTakenIfItIsTheSameFile() throws IOException {
        Path file = Files.createFile(directory.resolve("lib.so"));
        assertThat(locate(line(file, inode(file), ""))).isEqualTo(file);
    }

    /** Neither text in any locale, nor one line, nor what the kernel's own marks mean. */
    @Test
    void namesAreOpenedByTheirBytes() throws IOException {
        byte[] name = "/x?\r\t\"%2e\u00fc".getBytes(StandardCharsets.UTF_8);
        name[2] = (byte) 0xff;
        Path file = Files.createFile(FileName.of(name).below(directory));
        assertThat(locate(line(name, inode(file), ""))).isEqualTo(file);
        Path newline = Files.createFile(directory.resolve("a\nb"));
        assertThat(locate(line("/a\\012b".getBytes(StandardCharsets.UTF_8), inode(newline), "")))
                .isEqualTo(newline);
        Path literal = Files.createFile(directory.resolve("a\\012b (deleted)"));
        assertThat(locate(line("/a\\012b (deleted)".getBytes(StandardCharsets.UTF_8), inode(literal), "")))
                .isEqualTo(literal);
    }

    @Test
    void anotherMountNamespaceIsReachedThroughRoot() throws IOException {
        Path inside = directory.resolve("7/root/opt/lib.so");
        Files.createDirectories(inside.getParent());
        Files.createFile(inside);
        assertThat(locate(line(Path.of("/opt/lib.so"), inode(inside), ""))).isEqualTo(inside);
    }

    @Test
    void aReplacedFileIsNotMistakenForTheMappedOne() throws IOException {
        Path file = Files.createFile(directory.resolve("lib.so"));
        assertThatThrownBy(() -> locate(line(file, inode(file) + 1, "")))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll("another file", "map_files/1000-2000", "not mapped there any more");
    }

    /**
     * The right inode on another device is another file; only overlay and btrfs show one device here and another there.
     */
    @Test
    void theDeviceCountsToo() throws IOException {
        Path file = Files.createFile(directory.resolve("lib.so"));
        String line = "1000-2000 r-xp 00000000 0fe:77 " + inode(file) + "    " + file + "\n";
        assertThatThrownBy(() -> locate(line.getBytes(StandardCharsets.UTF_8))).isInstanceOf(IOException.class);
    }

    /** To open a FIFO is to wait for its writer. */
    @Test
    void onlyRegularFilesAreOpened() throws IOException, InterruptedException {
        Path fifo = directory.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor())
                .isZero();
        assertThatThrownBy(() -> locate(line(fifo, inode(fifo), ""))).isInstanceOf(IOException.class);
    }

    @Test
    void aDeletedFileIsReachedThroughMapFiles() throws IOException {
        Path mapFile = directory.resolve("7/map_files/1000-2000");
        Files.createDirectories(mapFile.getParent());
        Files.createFile(mapFile);
        assertThat(locate(line(Path.of("/gone.so"), 5, " (deleted)"))).isEqualTo(mapFile);
    }

    /** Makes a file that the process has open as descriptor 3. */
    private Path keptOpen() throws IOException {
        Path kept = Files.createFile(directory.resolve("kept"));
        Files.createDirectories(directory.resolve("7/fd"));
        Files.createSymbolicLink(directory.resolve("7/fd/3"), kept);
        return kept;
    }

    @Test
    void aDeletedFileIsReachedThroughAnOpenDescriptor() throws IOException {
        Path kept = keptOpen();
        assertThat(locate(line(Path.of("/memfd:x"), inode(kept), " (deleted)"))).isEqualTo(directory.resolve("7/fd/3"));
    }

    /** The search takes minutes for a process that unmaps its thousands of files meanwhile. */
    @Test
    void descriptorsAreNotSearchedIfTheMappingIsGone() throws IOException {
        Path kept = keptOpen();
        Files.createDirectories(directory.resolve("7/map_files"));
        assertThatThrownBy(() -> locate(line(Path.of("/memfd:x"), inode(kept), " (deleted)")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("not mapped there any more");
    }

    @Test
    void aProcessThatIsGoneIsNamed() {
        assertThatThrownBy(() -> new ProcessFiles(Host.running().withProc(directory)).executableFiles(8))
                .isInstanceOf(IOException.class)
                .hasMessage("no process 8");
    }

    @Test
    void aProcessWithTooManyFilesIsNamed() throws IOException {
        StringBuilder maps = new StringBuilder();
        for (int i = 0; i <= ProcessLimits.MAX_FILES; i++) {
            maps.append("1000-2000 r-xp 0 08:01 ").append(1000 + i).append(" /x\n");
        }
        write(maps.toString().getBytes(StandardCharsets.UTF_8));
        assertThatThrownBy(() -> new ProcessFiles(Host.running().withProc(directory)).executableFiles(7))
                .isExactlyInstanceOf(TooMuchException.class)
                .hasMessageContainingAll("process 7 is left out", "4096 files");
        write("1000-2000 r-xp 0 08:01 1 /x\n".repeat(100_000).getBytes(StandardCharsets.UTF_8));
        assertThat(new ProcessFiles(Host.running().withProc(directory)).executableFiles(7))
                .hasSize(1);
    }

    @Test
    void aProcessWithTooLongNamesIsNamed() throws IOException {
        StringBuilder maps = new StringBuilder();
        for (int i = 0; i < 300; i++) {
            maps.append("1000-2000 r-xp 0 08:01 ")
                    .append(1000 + i)
                    .append(" /")
                    .append("x".repeat(4000))
                    .append('\n');
        }
        write(maps.toString().getBytes(StandardCharsets.UTF_8));
        assertThatThrownBy(() -> new ProcessFiles(Host.running().withProc(directory)).executableFiles(7))
                .isExactlyInstanceOf(TooMuchException.class)
                .hasMessageContainingAll("process 7 is left out", "bytes of names");
    }

    private Path locate(byte[] maps) throws IOException {
        write(maps);
        ProcessFiles files = new ProcessFiles(Host.running().withProc(directory));
        List<MappedFile> mapped = files.executableFiles(7);
        assertThat(mapped).hasSize(1);
        try (ProcessFiles.Opened opened = files.open(mapped.getFirst())) {
            return opened.path();
        }
    }

    private void write(byte[] maps) throws IOException {
        Files.write(Files.createDirectories(directory.resolve("7")).resolve("maps"), maps);
    }

    private byte[] line(Path path, long inode, String suffix) throws IOException {
        String text = path.toString();
        boolean here = path.startsWith(directory);
        return line(
                (here ? text.substring(directory.toString().length()) : text).getBytes(StandardCharsets.UTF_8),
                inode,
                suffix,
                here);
    }

    /** A line with a name below the folder of this test. */
    private byte[] line(byte[] name, long inode, String suffix) throws IOException {
        return line(name, inode, suffix, true);
    }

    private byte[] line(byte[] name, long inode, String suffix, boolean here) throws IOException {
        long device = FileIdentity.of(directory).device();
        long major = (device >>> 8 & 0xfff) | (device >>> 32 & ~0xfffL);
        long minor = (device & 0xff) | (device >>> 12 & ~0xffL);
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        line.writeBytes(String.format("1000-2000 r-xp 00000000 %02x:%02x %d    ", major, minor & 0xffffffffL, inode)
                .getBytes(StandardCharsets.UTF_8));
        line.writeBytes((here ? directory.toString() : "").getBytes(StandardCharsets.UTF_8));
        line.writeBytes(name);
        line.writeBytes((suffix + "\n").getBytes(StandardCharsets.UTF_8));
        return line.toByteArray();
    }

    private static long inode(Path path) throws IOException {
        return (Long) Files.getAttribute(path, "unix:ino");
    }
}
