package io.bpf4j.elf;

import io.bpf4j.elf.internal.compression.Compression;
import io.bpf4j.elf.internal.compression.MissingLibraryException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Decompresses the sections of one file, within a budget. <i>Thread-safe.</i>
 *
 * <p>It reads SHF_COMPRESSED (zlib), its predecessor {@code .zdebug_*}, and the xz of {@code .gnu_debugdata}.
 *
 * <pre>
 *   SHF_COMPRESSED, ELF64:  01 00 00 00  00 00 00 00  00 10 00 00 00 00 00 00  08 00 ...  78 9c ...
 *                           zlib         reserved     4096 bytes expanded      alignment  zlib stream
 *   SHF_COMPRESSED, ELF32:  01 00 00 00  00 10 00 00  08 00 00 00                         78 9c ...
 *   .zdebug_info:           5a 4c 49 42  00 00 00 00 00 00 10 00                          78 9c ...
 *                           "ZLIB"       4096, big-endian in every file
 * </pre>
 *
 * zlib expands to at most 1032 times its input, so a larger declared size is malformed and allocates no memory; below
 * this limit, memory grows with the actual output, up to {@link ElfLimits#maxDecompressedBytes()}.
 *
 * <p>Many sections may share one stream: a file of 4 MB could expand to a tebibyte, by 65,000 headers of 64 bytes that
 * all refer to the same 16 KiB, which expand to 16 MiB. So all calls together may take {@value #MAX_TOTAL_FACTOR} times
 * the limit of one section. The compressed bytes count too, because deflate has blocks without content.
 *
 * <p>Sections compressed by zstd are rejected. Java has no zstd, and Commons Compress binds a native library, which this
 * module must not load. The decoder in Java that is maintained, aircompressor's, reads memory by {@code
 * sun.misc.Unsafe}: crafted input has crashed the JVM (GHSA-973x-65j7-xcf4), and JDK 24 and later warn of these calls
 * (JEP 498). The files that are read here may come from anybody. Its change to memory segments (pull request 365 of
 * airlift/aircompressor) was open in November 2026.
 *
 * <p>Tested by {@code ElfFileTest} and {@code MalformedElfTest}.
 */
final class Decompressor {
    private static final int ELFCOMPRESS_ZLIB = 1;
    private static final int ELFCOMPRESS_ZSTD = 2;
    private static final byte[] ZDEBUG_MAGIC = "ZLIB".getBytes(StandardCharsets.US_ASCII);
    private static final int ZDEBUG_HEADER_SIZE = 12;
    private static final int ZLIB_MAX_RATIO = 1032;

    /**
     * xz expands without bound: 255 MB of zeros are 37 KB. Symbols expand to about 5 times their compressed size; one
     * chunk is always allowed.
     */
    private static final long XZ_MAX_RATIO = 64;

    private static final int CHUNK = 1 << 16;

    /** The limit of all sections together, as a multiple of the limit of one section. */
    static final int MAX_TOTAL_FACTOR = 4;

    private final ElfLimits limits;
    /** Bytes, compressed and expanded. */
    private final AtomicLong budget;

    Decompressor(ElfLimits limits) {
        this.limits = limits;
        this.budget = new AtomicLong(MAX_TOTAL_FACTOR * maxSectionBytes());
    }

    /** The decompressed bytes of a section, from its bytes in the file. */
    ByteView expand(ElfClass elfClass, Section section, ByteView raw) {
        if (section.has(Section.SHF_COMPRESSED)) {
            int word = elfClass.addressSize();
            long size = elfClass.readWord(raw, word); // ELF64 has a reserved word of 32 bits before it
            ByteView stream = raw.slice(3L * word);
            int type = raw.s32(0);
            return switch (type) {
                case ELFCOMPRESS_ZLIB -> inflate(section, raw, stream, size);
                case ELFCOMPRESS_ZSTD ->
                    throw raw.malformed(
                            0,
                            "section " + section.name() + " is compressed by zstd, which can't be read without a"
                                    + " native library; run objcopy --decompress-debug-sections on the file");
                default ->
                    throw raw.malformed(0, "section " + section.name() + " has unknown compression type " + type);
            };
        }
        if (section.name().startsWith(".zdebug") && raw.matches(0, ZDEBUG_MAGIC)) {
            long size = raw.withOrder(ByteOrder.BIG_ENDIAN).s64(4);
            return inflate(section, raw, raw.slice(ZDEBUG_HEADER_SIZE), size);
        }
        return raw;
    }

    private ByteView inflate(Section section, ByteView raw, ByteView stream, long size) {
        if (size < 0 || size / ZLIB_MAX_RATIO > stream.size()) {
            throw raw.malformed(
                    0,
                    "section " + section.name() + " declares that it expands from " + stream.size() + " to "
                            + Long.toUnsignedString(size) + " bytes, more than zlib allows");
        }
        checkSize(raw, section.name(), size);
        spend(raw, section.name(), stream.size() + size);
        byte[] expanded = new byte[(int) Math.min(size, Math.max(CHUNK, 8 * stream.size()))];
        byte[] chunk = new byte[(int) Math.min(CHUNK, stream.size())];
        int filled = 0;
        long next = 0;
        Inflater inflater = new Inflater();
        try {
            while (filled < size && !inflater.finished()) {
                if (inflater.needsInput()) {
                    int length = (int) Math.min(chunk.length, stream.size() - next);
                    if (length == 0) {
                        break;
                    }
                    stream.copy(next, chunk, 0, length);
                    inflater.setInput(chunk, 0, length);
                    next += length;
                }
                if (filled == expanded.length) {
                    expanded = Arrays.copyOf(expanded, (int) Math.min(size, 2L * filled));
                }
                filled += inflater.inflate(expanded, filled, expanded.length - filled);
                if (inflater.needsDictionary()) {
                    throw raw.malformed(
                            0, "section " + section.name() + " needs a zlib dictionary, which ELF does not define");
                }
            }
        } catch (DataFormatException e) {
            throw malformed(raw, "section " + section.name() + " isn't valid zlib data", e);
        } finally {
            inflater.end();
        }
        if (filled < size) {
            throw raw.malformed(
                    0,
                    "section " + section.name() + " expands to " + filled + " bytes, less than the " + size
                            + " that it declares");
        }
        return ByteView.of(raw.source() + " section " + section.name() + " (decompressed)", expanded, raw.order());
    }

    /** Decompresses a whole xz file. */
    ByteView xz(String sectionName, ByteView data) {
        long max = Math.max(CHUNK, XZ_MAX_RATIO * data.size());
        byte[] expanded = new byte[CHUNK];
        int filled = 0;
        spend(data, sectionName, data.size());
        try (InputStream in = Compression.xz(new ViewStream(data))) {
            for (int read = 0; read >= 0; read = in.read(expanded, filled, expanded.length - filled)) {
                filled += read;
                spend(data, sectionName, read);
                if (filled > max) {
                    throw data.malformed(
                            0,
                            sectionName + " expands to more than " + XZ_MAX_RATIO + " times its " + data.size()
                                    + " bytes, which no symbol table does");
                }
                if (filled == expanded.length) {
                    checkSize(data, sectionName, filled + 1L);
                    expanded = Arrays.copyOf(expanded, (int) Math.min(limits.maxDecompressedBytes(), 2L * filled));
                }
            }
        } catch (MalformedDataException e) {
            throw e;
        } catch (MissingLibraryException e) {
            throw malformed(data, sectionName + " can't be read", e);
        } catch (IOException | RuntimeException e) {
            throw malformed(data, sectionName + " isn't valid xz data", e);
        }
        return ByteView.of(
                        data.source() + " section " + sectionName + " (decompressed)",
                        expanded,
                        ByteOrder.LITTLE_ENDIAN)
                .slice(0, filled);
    }

    private void checkSize(ByteView data, String sectionName, long size) {
        long max = maxSectionBytes();
        if (size > max) {
            throw data.malformed(
                    0,
                    sectionName + " expands to " + size + " bytes or more, but at most " + max
                            + " are accepted; raise ElfLimits");
        }
    }

    private long maxSectionBytes() {
        return Math.min(limits.maxDecompressedBytes(), Integer.MAX_VALUE - 8);
    }

    private void spend(ByteView data, String sectionName, long bytes) {
        if (budget.addAndGet(-bytes) < 0) {
            throw data.malformed(
                    0,
                    sectionName + " and the sections decompressed before it have more than " + MAX_TOTAL_FACTOR
                            + " times the " + maxSectionBytes()
                            + " bytes that are accepted for one section; raise ElfLimits");
        }
    }

    private static MalformedDataException malformed(ByteView data, String problem, Exception cause) {
        MalformedDataException malformed = data.malformed(0, problem + ": " + cause.getMessage());
        malformed.initCause(cause);
        return malformed;
    }

    /** A view as a stream. */
    private static final class ViewStream extends InputStream {
        private final ByteView view;
        private long next;

        ViewStream(ByteView view) {
            this.view = view;
        }

        @Override
        public int read() {
            return next < view.size() ? view.u8(next++) : -1;
        }

        @Override
        public int read(byte[] target, int at, int length) {
            int wanted = (int) Math.min(length, view.size() - next);
            if (wanted == 0) {
                return length == 0 ? 0 : -1;
            }
            view.copy(next, target, at, wanted);
            next += wanted;
            return wanted;
        }
    }
}
