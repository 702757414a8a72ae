package io.bpf4j.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files and archives: read, never mapped, closed, and refused with the reason. */
class OpenElfFileTest {
    @TempDir
    Path directory;

    private final byte[] image = SampleElf.full(ElfBuilder.elf64());

    private Path write(String name, byte[] bytes) throws IOException {
        return Files.write(directory.resolve(name), bytes);
    }

    private static boolean isMapped(Path path) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/maps")).stream().anyMatch(line -> line.contains(path.toString()));
    }

    private static boolean isOpen(Path path) throws IOException {
        try (var descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path descriptor : descriptors) {
                try {
                    if (Files.readSymbolicLink(descriptor).startsWith(path)) {
                        return true;
                    }
                } catch (NoSuchFileException e) {
                    // Another thread of this JVM has closed it meanwhile.
                }
            }
            return false;
        }
    }

    @Test
    void closeGivesTheFileBack() throws IOException {
        Path path = write("x.o", image);
        ElfFile elf = ElfFile.open(path);
        assertThat(isMapped(path)).isFalse();
        assertThat(isOpen(path)).isTrue();
        assertThat(elf.path()).contains(path);
        assertThat(elf.source()).isEqualTo(path.toString());
        assertThat(elf.containerOffset()).isZero();
        ByteView data = elf.data(elf.section(".text").orElseThrow());
        Symbol symbol = elf.symbols("hidden_fn").getFirst();
        elf.close();
        elf.close();
        assertThat(isOpen(path)).isFalse();
        assertThat(symbol.name()).isEqualTo("hidden_fn");
        assertThatThrownBy(() -> data.u8(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(elf::notes).isInstanceOf(IllegalStateException.class);
        assertThat(elf.sections()).hasSize(14);
    }

    @Test
    void whatIsMalformedIsClosed() throws IOException {
        Path script = write("script", "#!/bin/sh\nexit 0\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        assertThatThrownBy(() -> ElfFile.open(script))
                .isExactlyInstanceOf(MalformedDataException.class)
                .hasMessage(script + " at 0x0: not an ELF file: starts with 23 21 2f 62 \"#!/b\"");
        assertThat(isOpen(script)).isFalse();
        Path empty = write("empty", new byte[0]);
        assertThatThrownBy(() -> ElfFile.open(empty))
                .isExactlyInstanceOf(MalformedDataException.class)
                .hasMessageContaining("it is empty");
        Path cut = write("cut", java.util.Arrays.copyOf(image, image.length / 2));
        assertThatThrownBy(() -> ElfFile.open(cut))
                .isExactlyInstanceOf(MalformedDataException.class)
                .hasMessageContaining("cut short, or damaged");
        assertThat(isOpen(cut)).isFalse();
    }

    @Test
    void whatCannotBeOpenedIsAnIOException() throws IOException, InterruptedException {
        Path missing = directory.resolve("missing");
        assertThatThrownBy(() -> ElfFile.open(missing))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessage(missing.toString());
        assertThatThrownBy(() -> ElfFile.open(directory))
                .isInstanceOf(FileSystemException.class)
                .hasMessage(directory + ": is a directory, not an ELF file");
        assertThatThrownBy(() -> ElfFile.open(Path.of("/dev/null")))
                .isInstanceOf(FileSystemException.class)
                .hasMessage("/dev/null: is not a regular file, so it can't be an ELF file");
        Path fifo = directory.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor())
                .isZero();
        assertThatThrownBy(() -> ElfFile.open(fifo)).isInstanceOf(FileSystemException.class);
    }

    @Test
    void shortenedWhileRead() throws IOException {
        ElfBuilder builder = ElfBuilder.elf64();
        builder.section("data", Section.SHT_PROGBITS, new byte[3 * FileBlocks.BLOCK]);
        builder.section(".note", Section.SHT_NOTE, builder.note("x", 1, new byte[4], 4));
        // The section headers stand at the end, and their block is read when the file is opened.
        builder.section("rest", Section.SHT_PROGBITS, new byte[3 * FileBlocks.BLOCK]);
        Path path = write("shrinking", builder.build());
        try (ElfFile elf = ElfFile.open(path);
                FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
            ByteView data = elf.data(elf.section("data").orElseThrow());
            channel.truncate(100);
            assertThatThrownBy(data::toByteArray)
                    .isExactlyInstanceOf(MalformedDataException.class)
                    .hasMessageContaining("the file was shortened");
            assertThatThrownBy(elf::notes)
                    .isExactlyInstanceOf(MalformedDataException.class)
                    .hasMessageContaining("the file was shortened");
        }
    }

    /** Whoever writes to a file all the time gets an answer or a refusal, and nothing else, from its reader. */
    @Test
    void writtenWhileRead() throws Exception {
        Path path = write("restless", image);
        AtomicBoolean done = new AtomicBoolean();
        Thread writer = Thread.ofPlatform().start(() -> {
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
                for (int i = 0; !done.get(); i++) {
                    channel.truncate(i * 97L % image.length);
                    channel.write(ByteBuffer.wrap(image), 0);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        int refused = 0;
        try {
            // More if the writer hasn't had the processor yet.
            for (int i = 0; i < 2000 || (refused == 0 && i < 1_000_000); i++) {
                try (ElfFile elf = ElfFile.open(path)) {
                    SampleElf.readAll(elf);
                } catch (MalformedDataException | FileSystemException expected) {
                    refused++;
                }
            }
        } finally {
            done.set(true);
            writer.join();
        }
        assertThat(refused).isPositive();
    }

    /** Numbers at every place around the border of two blocks, in both byte orders, as in memory. */
    @Test
    void numbersAcrossBlocks() throws IOException {
        byte[] filling = new byte[2 * FileBlocks.BLOCK + 100];
        new Random(1).nextBytes(filling);
        ElfBuilder builder = ElfBuilder.elf64();
        builder.section("data", Section.SHT_PROGBITS, filling);
        byte[] bytes = builder.build();
        ByteView memory = ByteView.of("memory", bytes, ByteOrder.LITTLE_ENDIAN);
        try (ElfFile elf = ElfFile.open(write("blocks", bytes))) {
            ByteView file = elf.bytes();
            for (int block = 1; block <= 2; block++) {
                for (long at = (long) block * FileBlocks.BLOCK - 20; at < (long) block * FileBlocks.BLOCK + 20; at++) {
                    for (ByteOrder order : List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)) {
                        ByteView expected = memory.withOrder(order);
                        ByteView actual = file.withOrder(order);
                        assertThat(actual.u8(at)).isEqualTo(expected.u8(at));
                        assertThat(actual.s16(at)).isEqualTo(expected.s16(at));
                        assertThat(actual.s32(at)).isEqualTo(expected.s32(at));
                        assertThat(actual.s64(at)).isEqualTo(expected.s64(at));
                        assertThat(actual.slice(at, 50).toByteArray())
                                .isEqualTo(expected.slice(at, 50).toByteArray());
                    }
                }
            }
            assertThat(file.toByteArray()).isEqualTo(bytes);
        }
    }

    /** A sparse file of 5 GiB: offsets above 4 GiB, and only blocks that are looked at are read. */
    @Test
    void hugeFile() throws IOException {
        Path path = directory.resolve("huge");
        long tail = 5L << 30;
        ElfBuilder builder = ElfBuilder.elf64();
        builder.section("far", Section.SHT_PROGBITS, new byte[0], s -> {
            s.offset = tail;
            s.size = 8;
        });
        builder.section("most", Section.SHT_PROGBITS, new byte[0], s -> {
            s.offset = 0;
            s.size = tail;
        });
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.write(builder.build());
            file.seek(tail);
            file.write(new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
        }
        try (ElfFile elf = ElfFile.open(path)) {
            ByteView far = elf.data(elf.section("far").orElseThrow());
            assertThat(far.base()).isEqualTo(tail);
            assertThat(far.s64(0)).isEqualTo(0x0807060504030201L);
            ByteView most = elf.data(elf.section("most").orElseThrow());
            assertThat(most.size()).isEqualTo(tail);
            assertThat(most.u8(tail - 1)).isZero();
            assertThatThrownBy(most::toByteArray)
                    .isExactlyInstanceOf(MalformedDataException.class)
                    .hasMessageContaining("too many to hold in memory");
        }
    }

    @Test
    void anInterruptedThreadReads() throws IOException {
        Path path = write("x.o", image);
        Path inside = Path.of(archive("app.apk") + "!/lib/stored.so");
        Thread.currentThread().interrupt();
        try (ElfFile plain = ElfFile.open(path);
                ElfFile stored = ElfFile.open(inside)) {
            assertThat(plain.bytes().toByteArray()).isEqualTo(image);
            assertThat(stored.bytes().toByteArray()).isEqualTo(image);
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    /** The interrupts come at any time: also during a read, which closes the channel for both threads. */
    @Test
    void interruptsWhileTwoThreadsRead() throws Exception {
        byte[] large = Arrays.copyOf(image, 8 << 20);
        new Random(1).nextBytes(large);
        System.arraycopy(image, 0, large, 0, image.length);
        Path path = write("large.o", large);
        try (ElfFile elf = ElfFile.open(path)) {
            AtomicBoolean interrupted = new AtomicBoolean();
            FutureTask<Boolean> disturbed = new FutureTask<>(() -> {
                // More if the other thread hasn't had the processor yet.
                for (int i = 0; i < 20 || !interrupted.get(); i++) {
                    assertThat(elf.bytes().toByteArray()).isEqualTo(large);
                }
                return Thread.interrupted();
            });
            Thread reader = Thread.ofPlatform().start(disturbed);
            while (!disturbed.isDone()) {
                reader.interrupt();
                interrupted.set(true);
                assertThat(elf.bytes().slice(1 << 20, 1 << 20).toByteArray())
                        .isEqualTo(Arrays.copyOfRange(large, 1 << 20, 2 << 20));
            }
            assertThat(disturbed.get()).isTrue();
        }
        assertThat(isOpen(path)).isFalse();
    }

    private Path archive(String name) throws IOException {
        Path path = directory.resolve(name);
        try (OutputStream out = Files.newOutputStream(path);
                ZipOutputStream zip = new ZipOutputStream(out)) {
            zip.putNextEntry(new ZipEntry("lib/compressed.so"));
            zip.write(image);
            ZipEntry stored = new ZipEntry("lib/stored.so");
            CRC32 crc = new CRC32();
            crc.update(image);
            stored.setMethod(ZipEntry.STORED);
            stored.setSize(image.length);
            stored.setCrc(crc.getValue());
            zip.putNextEntry(stored);
            zip.write(image);
        }
        return path;
    }

    @Test
    void storedInAnArchive() throws IOException {
        Path archive = archive("app.apk");
        Path inside = Path.of(archive + "!/lib/stored.so");
        try (ElfFile elf = ElfFile.open(inside)) {
            assertThat(elf.source()).isEqualTo(inside.toString());
            assertThat(elf.path()).contains(archive);
            assertThat(elf.bytes().toByteArray()).isEqualTo(image);
            assertThat(elf.symbols("hidden_fn")).hasSize(1);
            // The offset in the archive is the sum of the two.
            long text = elf.fileOffset(SampleElf.TEXT_ADDRESS).orElseThrow();
            ByteView whole = ByteView.of("zip", Files.readAllBytes(archive), ByteOrder.LITTLE_ENDIAN);
            assertThat(whole.slice(elf.containerOffset(), image.length).toByteArray())
                    .isEqualTo(image);
            assertThat(text).isEqualTo(elf.section(".text").orElseThrow().offset());
            assertThat(isOpen(archive)).isTrue();
        }
        assertThat(isOpen(archive)).isFalse();
    }

    @Test
    void archivesThatDoNotServe() throws IOException {
        Path archive = archive("app.apk");
        assertThatThrownBy(() -> ElfFile.open(Path.of(archive + "!/lib/compressed.so")))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("app.apk!/lib/compressed.so: the entry is compressed (method 8)");
        assertThatThrownBy(() -> ElfFile.open(Path.of(archive + "!/lib/none.so")))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessageContaining("no entry of this name");
        assertThatThrownBy(() -> ElfFile.open(Path.of(directory + "/none.apk!/lib/none.so")))
                .isInstanceOf(NoSuchFileException.class);
        Path noZip = write("no.zip", new byte[1000]);
        assertThatThrownBy(() -> ElfFile.open(Path.of(noZip + "!/x")))
                .isExactlyInstanceOf(MalformedDataException.class)
                .hasMessageContaining("not a readable zip archive");
        assertThatThrownBy(() -> ElfFile.open(archive))
                .isExactlyInstanceOf(MalformedDataException.class)
                .hasMessageContaining("not an ELF file: starts with 50 4b 03 04 \"PK..\"");
        try (var inside = FileSystems.newFileSystem(archive)) {
            assertThatThrownBy(() -> ElfFile.open(inside.getPath("lib/stored.so")))
                    .isInstanceOf(FileSystemException.class)
                    .hasMessageContaining("no process can map it");
        }
    }

    @Test
    void damagedArchives() throws IOException {
        byte[] bytes = Files.readAllBytes(archive("app.apk"));
        Path damaged = directory.resolve("damaged.apk");
        int end = bytes.length;
        int opened = 0;
        // The central directory, which stands last, and some of the local headers.
        for (int at = end - 250; at < end; at++) {
            for (int worst : new int[] {bytes[at] ^ 1, 0xff}) {
                byte was = bytes[at];
                bytes[at] = (byte) worst;
                Files.write(damaged, bytes);
                bytes[at] = was;
                try (ElfFile elf = ElfFile.open(Path.of(damaged + "!/lib/stored.so"))) {
                    SampleElf.readAll(elf);
                    opened++;
                } catch (MalformedDataException | FileSystemException expected) {
                    // these two are the contract
                }
            }
        }
        assertThat(opened).isPositive();
        assertThat(isOpen(damaged)).isFalse();
    }

    @Test
    void aFileWhoseNameLooksLikeAnEntry() throws IOException {
        Files.createDirectories(directory.resolve("odd!/"));
        Path path = write("odd!/x.o", image);
        try (ElfFile elf = ElfFile.open(path)) {
            assertThat(elf.path()).contains(path);
        }
    }

    @Test
    void debugFilesByBuildIdAndByLink() throws IOException {
        ElfBuilder builder = ElfBuilder.elf64();
        builder.section(
                ".note.gnu.build-id",
                Section.SHT_NOTE,
                builder.note("GNU", Note.NT_GNU_BUILD_ID, SampleElf.BUILD_ID, 4));
        byte[] debug = builder.build();
        CRC32 crc = new CRC32();
        crc.update(debug);
        ElfBuilder linking = ElfBuilder.elf64();
        linking.section(
                ".gnu_debuglink",
                Section.SHT_PROGBITS,
                linking.writer().string("x.debug").align(4).u32(crc.getValue()).toByteArray());
        DebugFiles files = new DebugFiles(directory.resolve("root"));
        try (ElfFile byId = ElfFile.open(write("full", image));
                ElfFile byLink = ElfFile.open(write("linking", linking.build()))) {
            assertThat(files.open(byId)).isEmpty();
            assertThat(files.open(byLink)).isEmpty();

            Path idPlace = directory.resolve("root/.build-id/ab/cdef0102030405.debug");
            Files.createDirectories(idPlace.getParent());
            Files.write(idPlace, linking.build()); // another file's
            assertThat(files.open(byId)).isEmpty();
            Files.write(idPlace, debug);
            try (ElfFile found = files.open(byId).orElseThrow()) {
                assertThat(found.path()).contains(idPlace);
            }

            for (Path place : List.of(
                    directory.resolve("root" + directory + "/x.debug"),
                    directory.resolve(".debug/x.debug"),
                    directory.resolve("x.debug"))) {
                Files.createDirectories(place.getParent());
                Files.write(place, debug);
                try (ElfFile found = files.open(byLink).orElseThrow()) {
                    assertThat(found.path()).contains(place);
                }
            }
            // A file that is mostly a hole is not read to its end; what has a build ID needs no checksum.
            try (RandomAccessFile hole =
                    new RandomAccessFile(directory.resolve("x.debug").toFile(), "rw")) {
                hole.setLength(100L << 30);
            }
            try (ElfFile found = files.open(byLink).orElseThrow()) {
                assertThat(found.path()).contains(directory.resolve(".debug/x.debug"));
            }
            Files.write(directory.resolve("x.debug"), image); // wrong checksum: the next one counts
            try (ElfFile found = files.open(byLink).orElseThrow()) {
                assertThat(found.path()).contains(directory.resolve(".debug/x.debug"));
            }
        }
        assertThat(isOpen(directory)).isFalse();
    }
}
