package io.bpf4j.elf.internal.compression;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.util.Optional;
import org.apache.commons.compress.MemoryLimitException;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipFile;
import org.apache.commons.compress.compressors.gzip.GzipCompressorInputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;
import org.jspecify.annotations.Nullable;

/** The only class that refers to Apache Commons Compress. */
final class CommonsCompress {
    /** xz -9 needs 65 MiB to decompress; tools that write mini debug info use far less. */
    private static final int XZ_MEMORY_KIB = 66 * 1024;

    private CommonsCompress() {}

    static InputStream xz(InputStream in) throws IOException {
        InputStream expanded = XZCompressorInputStream.builder()
                .setInputStream(in)
                .setDecompressConcatenated(true)
                .setMemoryLimitKiB(XZ_MEMORY_KIB)
                .get();
        return new FilterInputStream(expanded) {
            @Override
            public int read(byte[] bytes, int offset, int length) throws IOException {
                try {
                    return super.read(bytes, offset, length);
                } catch (MemoryLimitException e) {
                    throw new IOException("needs more memory to decompress than xz -9 does", e);
                }
            }
        };
    }

    static InputStream gzip(InputStream in) throws IOException {
        return GzipCompressorInputStream.builder()
                .setInputStream(in)
                .setDecompressConcatenated(true)
                .get();
    }

    static Compression.Tar tar(InputStream in) {
        TarArchiveInputStream archive = new TarArchiveInputStream(in);
        return new Compression.Tar(archive) {
            @Override
            @Nullable
            String nextFile() throws IOException {
                for (TarArchiveEntry entry = archive.getNextEntry(); entry != null; entry = archive.getNextEntry()) {
                    if (entry.isFile()) {
                        return entry.getName();
                    }
                }
                return null;
            }
        };
    }

    static Optional<Compression.ZipContent> zipEntry(FileChannel channel, String name) throws IOException {
        // Also closes the channel; otherwise its finalizer would close it and print a warning on stderr.
        try (ZipFile zip = ZipFile.builder()
                .setSeekableByteChannel(channel)
                .setIgnoreLocalFileHeader(true)
                .get()) {
            ZipArchiveEntry entry = zip.getEntry(name);
            if (entry == null) {
                return Optional.empty();
            }
            // Reads the entry's local header, which gives the start of its data.
            zip.getRawInputStream(entry);
            return Optional.of(new Compression.ZipContent(
                    entry.getMethod(),
                    entry.getGeneralPurposeBit().usesEncryption(),
                    entry.getDataOffset(),
                    entry.getSize()));
        }
    }
}
