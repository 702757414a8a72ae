package io.bpf4j.elf.internal.compression;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads xz, gzip, tar and zip by Apache Commons Compress. <i>Thread-safe.</i>
 *
 * <p>The modules of bpf4j require the library only when they are compiled. Only {@link CommonsCompress} refers to it,
 * and the first call of a method here links that class. If the library is missing, of another version, or on the class
 * path while bpf4j is on the module path, linking fails, then or while a stream is read, and the caller gets a {@link
 * MissingLibraryException}.
 *
 * <p>Tested by {@code WithoutLibrariesTest}.
 */
public final class Compression {
    private Compression() {}

    /** Reads by the library, which links some of its classes only when it needs them. */
    static class Linked extends FilterInputStream {
        final String format;

        Linked(String format, InputStream in) {
            super(in);
            this.format = format;
        }

        @Override
        public int read() throws IOException {
            try {
                return super.read();
            } catch (LinkageError e) {
                throw new MissingLibraryException(format, e);
            }
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            try {
                return super.read(bytes, offset, length);
            } catch (LinkageError e) {
                throw new MissingLibraryException(format, e);
            }
        }
    }

    /** The entries of a tar archive. After each call of {@link #next()} the stream is the content of that entry. */
    public abstract static class Tar extends Linked {
        Tar(InputStream in) {
            super("tar", in);
        }

        /** Goes to the next regular file; its name, or null at the end. */
        public final @Nullable String next() throws IOException {
            try {
                return nextFile();
            } catch (LinkageError e) {
                throw new MissingLibraryException(format, e);
            }
        }

        abstract @Nullable String nextFile() throws IOException;
    }

    /**
     * The bytes of an entry in a zip archive.
     *
     * @param method 0 if it is not compressed
     * @param offset of its bytes in the archive; -1 if not known
     * @param size in bytes, compressed or not
     */
    public record ZipContent(int method, boolean encrypted, long offset, long size) {}

    /**
     * The expanded content of one or more xz files in a row.
     *
     * @throws IOException now or while it is read, also if it needs more memory than {@code xz -9} does
     */
    public static InputStream xz(InputStream in) throws IOException {
        try {
            return new Linked("xz", CommonsCompress.xz(in));
        } catch (LinkageError e) {
            throw new MissingLibraryException("xz", e);
        }
    }

    /** The expanded content of one or more gzip files in a row. */
    public static InputStream gzip(InputStream in) throws IOException {
        try {
            return new Linked("gzip", CommonsCompress.gzip(in));
        } catch (LinkageError e) {
            throw new MissingLibraryException("gzip", e);
        }
    }

    /** The entries of a tar archive. Closing it closes the stream that it reads. */
    public static Tar tar(InputStream in) throws IOException {
        try {
            return CommonsCompress.tar(in);
        } catch (LinkageError e) {
            throw new MissingLibraryException("tar", e);
        }
    }

    /**
     * Finds an entry of a zip archive by its name. Closes the channel.
     *
     * @throws IOException if it is not a readable zip archive; some damage gives a {@code RuntimeException}
     */
    public static Optional<ZipContent> zipEntry(FileChannel channel, String name) throws IOException {
        try {
            return CommonsCompress.zipEntry(channel, name);
        } catch (LinkageError e) {
            throw new MissingLibraryException("zip", e);
        }
    }
}
