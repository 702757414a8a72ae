package io.bpf4j.test.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.BtfFile;
import io.bpf4j.elf.DebugFiles;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.FileOpener;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Host;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Patience;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A file whose owner exchanges it for a FIFO, and back, as fast as possible, while it is opened: a check before the open
 * sees a regular file, and an open of the FIFO would wait for ever.
 */
class ExchangedFilesTest {
    /** Without the opener of the loader, one open of some hundreds waits. */
    private static final int ROUNDS = 1_000;

    private static final Duration HANGS = Duration.ofSeconds(Patience.scaled(120));

    private static final Path LIBRARY = Path.of(System.getProperty("java.home"), "lib/libnet.so");
    private static final byte[] OBJECT = TestObjects.bytes("globals.bpf.o");

    @TempDir
    Path folder;

    /** Reads a file that was given by path. */
    private interface Read {
        void of(Path file) throws IOException;
    }

    private static FileOpener opener() {
        return OpenFile.opener(Host.running());
    }

    @Test
    void probesAreReadOfRegularFiles() throws Exception {
        check(LIBRARY, UsdtScan::ofFile);
    }

    @Test
    void functionsAreReadOfRegularFiles() throws Exception {
        check(LIBRARY, file -> FunctionProbe.matching(file, "JNI_OnLoad", false));
    }

    @Test
    void objectsAreReadOfRegularFiles() throws Exception {
        check(regular(OBJECT), file -> ObjectSpec.read(file, opener()));
    }

    @Test
    void typesAreReadOfRegularFiles() throws Exception {
        check(regular(OBJECT), file -> BtfFile.read(file, opener()));
    }

    @Test
    void foldersOfTypesAreReadOfRegularFiles() throws Exception {
        check(regular(OBJECT), file -> BtfFile.forEach(file.resolveSibling(""), opener(), (_, _) -> {}));
    }

    @Test
    void catalogsAreReadOfRegularFiles() throws Exception {
        check(regular(new byte[0]), Catalog::read);
    }

    private Path regular(byte[] content) throws IOException {
        return Files.write(folder.resolve("regular"), content);
    }

    /** The file of debug symbols may lie in the folder of its program, so it belongs to the same owner. */
    @Test
    void debugSymbolsAreReadOfRegularFiles() throws Exception {
        Path regular = Files.copy(LIBRARY, folder.resolve("file"));
        Path program = Files.copy(LIBRARY, folder.resolve("program"));
        Commands.check(
                List.of("objcopy", "-R", ".gnu_debuglink", "--add-gnu-debuglink=" + regular, program.toString()));
        AtomicInteger found = new AtomicInteger();
        check(regular, file -> {
            Path beside = file.resolveSibling("program");
            if (Files.notExists(beside)) {
                Files.copy(program, beside);
            }
            try (ElfFile elf = ElfFile.open(beside, opener())) {
                DebugFiles.standard().open(elf).ifPresent(debug -> {
                    found.incrementAndGet();
                    debug.close();
                });
            }
        });
        assertThat(found).hasPositiveValue();
    }

    private void check(Path original, Read read) throws Exception {
        // Links are made to it, in the folder's file system.
        Path regular = original.startsWith(folder) ? original : Files.copy(original, folder.resolve("regular"));
        Path fifo = folder.resolve("fifo");
        Commands.check(List.of("mkfifo", fifo.toString()));
        Path file = Files.createDirectory(folder.resolve("read")).resolve("file");
        AtomicBoolean ended = new AtomicBoolean();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        AtomicInteger done = new AtomicInteger();
        exchange(regular, file);
        read.of(file);
        Thread neighbour = Thread.ofPlatform().daemon().start(() -> {
            try {
                while (!ended.get()) {
                    exchange(fifo, file);
                    exchange(regular, file);
                }
            } catch (Throwable e) {
                failure.set(e);
            }
        });
        Thread reader = Thread.ofPlatform().daemon().start(() -> {
            try {
                for (; done.get() < ROUNDS; done.incrementAndGet()) {
                    try {
                        read.of(file);
                    } catch (IOException | MalformedDataException | BpfException e) {
                        assertThat(e).hasMessageContaining(folder.toString());
                    }
                }
            } catch (Throwable e) {
                failure.set(e);
            }
        });
        try {
            assertThat(reader.join(HANGS))
                    .as("reads; after %d one waits", done.get())
                    .isTrue();
        } finally {
            ended.set(true);
            neighbour.join();
        }
        assertThat(failure.get()).isNull();
    }

    /** Puts one file in the place of another at once, and keeps it. */
    private void exchange(Path by, Path file) {
        Path link = folder.resolve("link");
        try {
            Files.createLink(link, by);
            Files.move(link, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
