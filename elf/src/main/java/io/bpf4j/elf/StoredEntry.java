package io.bpf4j.elf;

import io.bpf4j.elf.internal.compression.Compression;
import io.bpf4j.elf.internal.compression.MissingLibraryException;
import io.bpf4j.elf.internal.text.FileName;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.zip.ZipEntry;

/**
 * An ELF file inside a zip archive, named as Android's linker and perf name it: {@code /data/app.apk!/lib/x.so}.
 *
 * <p>The linker maps such a library directly from the archive, so uprobes are also placed in the archive, at the offset
 * in the ELF plus the offset of the ELF. This works only for uncompressed entries; a compressed entry is never mapped,
 * so it can't be probed.
 *
 * <p>Tested by {@code OpenElfFileTest}.
 *
 * @param archive the file to map
 * @param entry name of the entry
 */
record StoredEntry(Path archive, String entry) {
    private static final String SEPARATOR = "!/";

    /** The range of an entry's bytes in its archive. */
    record Range(long offset, long size) {}

    /** Splits a path at the first {@code !/} after an existing file; a real file with the whole name has precedence. */
    static Optional<StoredEntry> of(Path path) {
        if (!path.toString().contains(SEPARATOR) || Files.exists(path)) {
            return Optional.empty();
        }
        byte[] bytes = FileName.of(path).bytes();
        String chars = new String(bytes, StandardCharsets.ISO_8859_1); // one for each byte
        for (int at = chars.indexOf(SEPARATOR); at >= 0; at = chars.indexOf(SEPARATOR, at + 1)) {
            Path archive = FileName.of(bytes, 0, at).path();
            if (Files.isRegularFile(archive)) {
                int entry = at + SEPARATOR.length();
                String name = new String(bytes, entry, bytes.length - entry, StandardCharsets.UTF_8);
                return Optional.of(new StoredEntry(archive, name));
            }
        }
        return Optional.empty();
    }

    /**
     * Finds the entry in the archive's directory; if it can't be mapped, the {@code IOException} has the reason.
     *
     * @param opened a path that leads to the archive
     */
    Range locate(Path opened) throws IOException {
        boolean interrupted = false;
        try {
            while (true) {
                interrupted |= Thread.interrupted(); // it would close the channel: see OpenedFile
                try (FileChannel channel = FileChannel.open(opened, StandardOpenOption.READ)) {
                    return locate(channel);
                } catch (ClosedByInterruptException e) {
                    // Read again: the interrupt status is cleared at the start of the loop.
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Range locate(FileChannel channel) throws IOException {
        Optional<Compression.ZipContent> content;
        long archiveSize = channel.size();
        try {
            content = Compression.zipEntry(channel, entry);
        } catch (MissingLibraryException e) {
            FileSystemException refused = new FileSystemException(toString(), null, e.getMessage());
            refused.initCause(e);
            throw refused;
        } catch (ClosedByInterruptException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            MalformedDataException malformed =
                    new MalformedDataException(archive.toString(), 0, "not a readable zip archive: " + e.getMessage());
            malformed.initCause(e);
            throw malformed;
        }
        Compression.ZipContent found = content.orElseThrow(
                () -> new NoSuchFileException(toString(), null, "the archive has no entry of this name"));
        if (found.method() != ZipEntry.STORED) {
            throw new FileSystemException(
                    toString(),
                    null,
                    "the entry is compressed (method " + found.method()
                            + "): no process can map it from the archive; extract it, or store it uncompressed");
        }
        if (found.encrypted()) {
            throw new FileSystemException(toString(), null, "the entry is encrypted");
        }
        long offset = found.offset();
        long size = found.size();
        if (offset < 0 || size < 0 || offset > archiveSize - size) {
            throw new MalformedDataException(
                    archive.toString(), Math.max(offset, 0), "entry " + entry + " lies outside the archive");
        }
        return new Range(offset, size);
    }

    @Override
    public String toString() {
        return archive + SEPARATOR + entry;
    }
}
