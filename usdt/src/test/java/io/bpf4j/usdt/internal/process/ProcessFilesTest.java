package io.bpf4j.usdt.internal.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessFilesTest {
    @TempDir
    Path directory;

    @Test
    void thisProcessRunsLibjvm() throws IOException {
        int pid = (int) ProcessHandle.current().pid();
        List<MappedFile> files = new ProcessFiles(Path.of("/proc")).executableFiles(pid);
        assertThat(files).anySatisfy(f -> assertThat(f.name()).endsWith("/libjvm.so"));
        assertThat(files).extracting(MappedFile::name).doesNotHaveDuplicates();
        assertThat(files).allSatisfy(f -> assertThat(f.problem()).isEmpty());
    }

    @Test
    void thePlainPathIsTakenIfItIsTheSameFile() throws IOException {
        Path file = Files.createFile(directory.resolve("lib.so"));
        assertThat(locate(line(file, inode(file), "")).path()).isEqualTo(file);
    }

    @Test
    void anotherMountNamespaceIsReachedThroughRoot() throws IOException {
        Path inside = directory.resolve("7/root/opt/lib.so");
        Files.createDirectories(inside.getParent());
        Files.createFile(inside);
        assertThat(locate(line(Path.of("/opt/lib.so"), inode(inside), "")).path())
                .isEqualTo(inside);
    }

    @Test
    void aReplacedFileIsNotMistakenForTheMappedOne() throws IOException {
        Path file = Files.createFile(directory.resolve("lib.so"));
        MappedFile found = locate(line(file, inode(file) + 1, ""));
        assertThat(found.path()).isNull();
        assertThat(found.problem()).contains("another file", "map_files/1000-2000", "CAP_CHECKPOINT_RESTORE");
    }

    @Test
    void aDeletedFileIsReachedThroughMapFiles() throws IOException {
        Path mapFile = directory.resolve("7/map_files/1000-2000");
        Files.createDirectories(mapFile.getParent());
        Files.createFile(mapFile);
        assertThat(locate(line(Path.of("/gone.so"), 5, " (deleted)")).path()).isEqualTo(mapFile);
    }

    @Test
    void aDeletedFileIsReachedThroughAnOpenDescriptor() throws IOException {
        Path kept = Files.createFile(directory.resolve("kept"));
        Path fd = directory.resolve("7/fd/3");
        Files.createDirectories(fd.getParent());
        Files.createSymbolicLink(fd, kept);
        assertThat(locate(line(Path.of("/memfd:x"), inode(kept), " (deleted)")).path())
                .isEqualTo(fd);
    }

    @Test
    void aProcessThatIsGoneIsNamed() {
        assertThatThrownBy(() -> new ProcessFiles(directory).executableFiles(8))
                .isInstanceOf(IOException.class)
                .hasMessage("no process 8");
    }

    @Test
    void devicesAreNamedAsInMaps() {
        assertThat(ProcessFiles.deviceName(0xfe01)).isEqualTo("fe:01");
        assertThat(ProcessFiles.deviceName(0x2b)).isEqualTo("00:2b");
    }

    private MappedFile locate(String maps) throws IOException {
        Path process = directory.resolve("7");
        Files.createDirectories(process);
        Files.writeString(process.resolve("maps"), maps);
        List<MappedFile> files = new ProcessFiles(directory).executableFiles(7);
        assertThat(files).hasSize(1);
        return files.getFirst();
    }

    private String line(Path path, long inode, String suffix) throws IOException {
        String device = ProcessFiles.deviceName((Long) Files.getAttribute(directory, "unix:dev"));
        return "1000-2000 r-xp 00000000 " + device + " " + inode + "    " + path + suffix + "\n";
    }

    private static long inode(Path path) throws IOException {
        return (Long) Files.getAttribute(path, "unix:ino");
    }
}
