package io.bpf4j.trace.stack;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.Host;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PerfMapFileTest {
    @TempDir
    Path proc;

    private Path folder = Path.of("");
    private int uid;

    @BeforeEach
    void makeProcess() throws IOException {
        folder = Files.createDirectories(proc.resolve("7/root/tmp"));
        uid = (Integer) Files.getAttribute(proc, "unix:uid");
        status("NSpid:\t7\n");
    }

    @Test
    void linesAreStartAndSizeAndTheRestIsTheName() throws IOException {
        Files.writeString(folder.resolve("perf-7.map"), """
                1000 20 plain
                0x2000 0x20 void Foo.bar(int, long)
                3000 0 empty
                nothing

                4000 10
                5000 10\s
                6000 xx name
                fffffffffffff000 10 high
                7000 10 last""");
        PerfMapFile list = list();
        assertThat(list.refresh()).isTrue();
        assertThat(name(list, 0x1010)).isEqualTo("plain");
        assertThat(name(list, 0x2010)).isEqualTo("void Foo.bar(int, long)");
        assertThat(name(list, 0x7000)).isEqualTo("last");
        assertThat(list.functions().count()).isEqualTo(4);
        assertThat(list.problem()).isEmpty();
    }

    @Test
    void itIsReadAgainOnlyIfItChanged() throws IOException {
        Path file = Files.writeString(folder.resolve("perf-7.map"), "1000 10 one\n");
        PerfMapFile list = list();
        assertThat(list.refresh()).isTrue();
        assertThat(list.refresh()).isFalse();
        Files.writeString(file, "1000 10 one\n2000 10 two\n");
        assertThat(list.refresh()).isTrue();
        assertThat(name(list, 0x2000)).isEqualTo("two");
        Files.delete(file);
        assertThat(list.refresh()).isFalse();
        assertThat(name(list, 0x2000)).as("kept").isEqualTo("two");
    }

    /** A program that has run for months has a long list, and most of it is about code that was replaced. */
    @Test
    void replacedCodeTakesNoRoom() throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(folder.resolve("perf-7.map"))) {
            for (int i = 0; i < 1_200_000; i++) {
                out.write(Integer.toHexString(0x1000 + i % 1000 * 16) + " 10 f" + i + "\n");
            }
        }
        PerfMapFile list = list();
        assertThat(list.refresh()).isTrue();
        assertThat(list.problem()).isEmpty();
        assertThat(list.functions().count()).isEqualTo(1000);
        assertThat(name(list, 0x1000)).isEqualTo("f1199000");
        assertThat(list.bytes()).isLessThan(1 << 20);
    }

    @Test
    void aListOfMoreThanFitsIsCut() throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(folder.resolve("perf-7.map"))) {
            for (int i = 0; i < 600_000; i++) {
                out.write(Integer.toHexString(0x1000 + i) + " 1 f\n");
            }
        }
        PerfMapFile list = list();
        assertThat(list.refresh()).isTrue();
        assertThat(list.problem()).contains("lists more functions than bpf4j keeps");
        assertThat(name(list, 0x1000)).isEqualTo("f");
        assertThat(list.bytes()).isLessThan(1 << 24);
        list.drop();
        assertThat(list.bytes()).isZero();
        assertThat(list.refresh()).as("again").isFalse();
        assertThat(list.problem()).contains("was dropped");
    }

    /** A sparse file: the hole reads as one long line of zeros. */
    @Test
    void whatFollowsTheFirst256MiBIsSaidToLackNames() throws IOException {
        Path file = Files.writeString(folder.resolve("perf-7.map"), "1000 10 first\n");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap("\n2000 10 later\n".getBytes(StandardCharsets.UTF_8)), 257 << 20);
        }
        PerfMapFile list = list();
        assertThat(list.refresh()).isTrue();
        assertThat(name(list, 0x1000)).isEqualTo("first");
        assertThat(list.functions().find(0x2000)).isNegative();
        assertThat(list.problem()).startsWith(file + " has more than 256 MiB; functions that it lists after these");
    }

    @Test
    void theNameHasThePidThatTheProcessKnows() throws IOException {
        status("NSpid:\t7\t3\n");
        Files.writeString(folder.resolve("perf-7.map"), "1000 10 ofAnother\n");
        Files.writeString(folder.resolve("perf-3.map"), "1000 10 own\n");
        PerfMapFile list = list();
        list.refresh();
        assertThat(name(list, 0x1000)).isEqualTo("own");
    }

    @Test
    void aLinkIsNotRead() throws IOException {
        Path secret = Files.writeString(proc.resolve("secret"), "1000 10 password\n");
        Path file = Files.createSymbolicLink(folder.resolve("perf-7.map"), secret);
        PerfMapFile list = list();
        assertThat(list.refresh()).isFalse();
        assertThat(list.problem()).contains("is a link");
        Files.delete(file);
        Files.createLink(file, secret);
        assertThat(list.refresh()).as("of two hard links").isFalse();
        assertThat(list.problem()).contains("is a link");
    }

    @Test
    void aFileOfAnotherUserIsNotRead() throws IOException {
        Path file = Files.writeString(folder.resolve("perf-7.map"), "1000 10 forged\n");
        int owner = uid;
        if (owner == 0) { // root's files are read
            owner = 4711;
            Files.setAttribute(file, "unix:uid", owner);
        }
        // A process names itself, also with a carriage return.
        status("Name:\ta\rUid:\t1\t" + owner + "\nNSpid:\t7\nUid:\t1\t4712\t4712\t4712\n");
        PerfMapFile list = list();
        assertThat(list.refresh()).isFalse();
        assertThat(list.problem()).contains("belongs to user " + owner);
        status("NSpid:\t7\nUid:\t1\t" + (owner + "\t").repeat(3) + "\n");
        assertThat(list.refresh()).as("of the process's own user").isTrue();
    }

    @Test
    void aProcessWithoutAListHasNoProblem() {
        PerfMapFile list = list();
        assertThat(list.refresh()).isFalse();
        assertThat(list.problem()).isEmpty();
        PerfMapFile gone = new PerfMapFile(Host.running().withProc(proc), 8);
        assertThat(gone.refresh()).isFalse();
        assertThat(gone.problem()).isEmpty();
    }

    @Test
    void onlyARegularFileIsOpened() throws IOException, InterruptedException {
        Path fifo = folder.resolve("perf-7.map");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor())
                .isZero();
        PerfMapFile list = list();
        assertThat(list.refresh()).isFalse();
        assertThat(list.problem()).contains("not a regular file");
    }

    private PerfMapFile list() {
        return new PerfMapFile(Host.running().withProc(proc), 7);
    }

    private void status(String lines) throws IOException {
        Files.writeString(
                proc.resolve("7/status"),
                lines + (lines.contains("Uid:") ? "" : "Uid:\t" + uid + "\t" + uid + "\t" + uid + "\t" + uid + "\n"));
    }

    private static String name(PerfMapFile list, long address) {
        int index = list.functions().find(address);
        return index < 0 ? "" : list.functions().name(index);
    }
}
