package io.bpf4j.btf;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.ElfLimits;
import io.bpf4j.elf.FileOpener;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.internal.compression.Compression;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reads BTF from files in these forms:
 *
 * <pre>
 *   raw                    /sys/kernel/btf/vmlinux, or a file that bpftool wrote
 *   ELF                    a vmlinux or a module with a section .BTF, an object that clang compiled
 *   archive                BTFHub's 5.4.0-91-generic.btf.tar.xz; .tar.gz and .tar, too; .xz or .gz of one file
 *   directory              all files in it and below that are one of these; from a folder with a file "vmlinux", such
 *                          as /sys/kernel/btf, only that file: the others are modules, which can't be read without it
 * </pre>
 *
 * The first bytes of a file determine its form, not its name. No BTF may have more than {@value #MAX_BYTES} bytes, also
 * after decompression; the BTF of a kernel has ten million bytes.
 */
public final class BtfFile {
    /** Maximum bytes of one BTF: 64 MiB. */
    static final int MAX_BYTES = 64 << 20;

    /** An ELF with debug information is larger than its BTF. */
    private static final long MAX_ELF_BYTES = 2L << 30;

    /**
     * Maximum nesting of compressions: a .tar.xz in an .xz is already unusual, and a file may unpack to itself
     * endlessly.
     */
    private static final int MAX_LAYERS = 4;

    private static final String VMLINUX = "vmlinux";

    private static final int BTF_MAGIC = 0xeb9f;

    /** The offset of "ustar" in a tar. */
    private static final int USTAR = 257;

    private BtfFile() {}

    /** Receives each BTF that is read. */
    @FunctionalInterface
    public interface Taker {
        /**
         * Receives one BTF.
         *
         * @param name of the file; for an entry of an archive {@code ARCHIVE!/ENTRY}
         */
        void take(String name, Btf btf) throws IOException;

        /**
         * Called for a file that could not be read. The default implementation throws the problem, which ends the
         * reading.
         *
         * @param problem its message contains the name of the file
         */
        default void refused(String name, IOException problem) throws IOException {
            throw problem;
        }
    }

    /**
     * Reads the BTF of one kernel: a file, or an archive with one file.
     *
     * @throws IOException if the file can't be read, or does not have exactly one BTF
     * @throws MalformedDataException if the BTF is malformed
     */
    public static Btf read(Path file) throws IOException {
        return read(file, FileOpener.JAVA);
    }

    /** Like {@link #read(Path)}, by an opener that can be trusted with files in other users' folders. */
    public static Btf read(Path file, FileOpener opener) throws IOException {
        if (Files.isDirectory(file)) {
            throw new IOException(file + " is a directory, not one BTF");
        }
        Btf[] found = new Btf[1];
        forEach(file, opener, (name, btf) -> {
            if (found[0] != null) {
                throw new IOException(file + " has several BTFs; unpack it and select one of its files");
            }
            found[0] = btf;
        });
        return found[0];
    }

    /**
     * Reads split BTF, such as a module's.
     *
     * @param file raw or ELF
     * @param base the BTF of the kernel that the module is for
     * @throws IOException if it can't be read, or has no BTF
     * @throws MalformedDataException if the BTF is malformed
     */
    public static Btf read(Path file, Btf base) throws IOException {
        byte[] bytes = bytes(file, file.toString(), MAX_ELF_BYTES);
        if (isBtf(bytes)) {
            return Btf.parse(view(file.toString(), bytes), base);
        }
        try (ElfFile elf = ElfFile.parse(file.toString(), bytes)) {
            return ofModule(elf, base);
        }
    }

    /**
     * The BTF of a module, on top of a kernel's BTF. A module with a distilled base ({@code .BTF.base}, Linux 6.11)
     * works with any kernel that has the types it refers to; other modules work only with the kernel they were built
     * with.
     *
     * @throws IOException if it has no BTF
     * @throws MalformedDataException if the BTF is malformed, or the kernel lacks a type of the distilled base
     */
    public static Btf ofModule(ElfFile elf, Btf base) throws IOException {
        ByteView split = section(elf);
        Optional<Section> distilled = elf.section(".BTF.base");
        return distilled.isEmpty()
                ? Btf.parse(split, base)
                : DistilledBase.relocate(Btf.parse(split, Btf.parse(elf.data(distilled.get()))), base);
    }

    /**
     * Reads all BTF at a path, in the order of the names.
     *
     * @param path a file, an archive or a directory. In a directory, files of other forms are skipped
     * @throws IOException if a file can't be read, or no BTF is found; also any exception of the taker
     */
    public static void forEach(Path path, Taker taker) throws IOException {
        forEach(path, FileOpener.JAVA, taker);
    }

    /** Like {@link #forEach(Path, Taker)}, by an opener that can be trusted with files in other users' folders. */
    public static void forEach(Path path, FileOpener opener, Taker taker) throws IOException {
        if (!Files.isDirectory(path)) {
            readFile(path, opener, taker);
            return;
        }
        List<Path> files;
        try (Stream<Path> all = Files.walk(path, FileVisitOption.FOLLOW_LINKS)) {
            files = all.filter(Files::isRegularFile)
                    .filter(file -> file.endsWith(VMLINUX) || !Files.exists(file.resolveSibling(VMLINUX)))
                    .sorted()
                    .toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        boolean any = false;
        for (Path file : files) {
            try {
                if (isOther(file, opener)) {
                    continue;
                }
            } catch (IOException e) {
                taker.refused(file.toString(), e);
                continue;
            }
            any = true;
            readFile(file, opener, taker);
        }
        if (!any) {
            throw new IOException(path + ": no BTF, ELF file or archive in this directory");
        }
    }

    private enum Kind {
        BTF,
        ELF,
        XZ,
        GZIP,
        TAR,
        OTHER
    }

    private static boolean isOther(Path file, FileOpener opener) throws IOException {
        try (FileOpener.Opened opened = opener.open(file)) {
            return kind(start(opened.path())) == Kind.OTHER;
        }
    }

    private static void readFile(Path file, FileOpener opener, Taker taker) throws IOException {
        String name = file.toString();
        try (FileOpener.Opened opened = opener.open(file)) {
            read(opened.path(), name, (entry, btf) -> {
                try {
                    taker.take(entry, btf);
                } catch (IOException e) {
                    throw new UncheckedIOException(e); // from the taker, not about this file
                }
            });
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } catch (MalformedDataException e) {
            taker.refused(name, new IOException(e.getMessage(), e));
        } catch (EOFException e) {
            taker.refused(name, new IOException(name + ": ends too early", e));
        } catch (IOException e) {
            String problem = String.valueOf(e.getMessage());
            taker.refused(name, problem.contains(name) ? e : new IOException(name + ": " + problem, e));
        }
    }

    private static void read(Path file, String name, Taker taker) throws IOException {
        switch (kind(start(file))) {
            case BTF -> taker.take(name, Btf.parse(view(name, bytes(file, name, MAX_BYTES))));
            case ELF -> {
                try (ElfFile elf = ElfFile.open(file, name, ElfLimits.defaults())) {
                    taker.take(name, Btf.parse(section(elf)));
                }
            }
            case XZ, GZIP, TAR -> {
                try (InputStream raw = Files.newInputStream(file)) {
                    archive(name, new BufferedInputStream(raw), taker, 0);
                }
            }
            case OTHER -> throw new IOException(name + " is neither BTF nor an ELF file nor an archive of these");
        }
    }

    private static void archive(String name, BufferedInputStream in, Taker taker, int layer) throws IOException {
        if (layer > MAX_LAYERS) {
            throw new IOException(name + ": has more than " + MAX_LAYERS + " layers of compression");
        }
        Kind kind = kind(peek(in));
        switch (kind) {
            case XZ -> archive(name, buffered(Compression.xz(in)), taker, layer + 1);
            case GZIP -> archive(name, buffered(Compression.gzip(in)), taker, layer + 1);
            case TAR -> entries(name, in, taker);
            case BTF, ELF -> content(name, limited(name, in), taker);
            case OTHER -> throw new IOException(name + " contains neither BTF nor an ELF file");
        }
    }

    private static void entries(String name, InputStream in, Taker taker) throws IOException {
        boolean any = false;
        try (Compression.Tar tar = Compression.tar(in)) {
            for (String entry = tar.next(); entry != null; entry = tar.next()) {
                String inside = name + "!/" + entry;
                BufferedInputStream content = buffered(tar);
                Kind kind = kind(peek(content));
                if (kind == Kind.BTF || kind == Kind.ELF) {
                    any = true;
                    content(inside, limited(inside, content), taker);
                }
            }
        }
        if (!any) {
            throw new IOException(name + ": no BTF in this archive");
        }
    }

    private static void content(String name, byte[] bytes, Taker taker) throws IOException {
        if (isBtf(bytes)) {
            taker.take(name, Btf.parse(view(name, bytes)));
            return;
        }
        try (ElfFile elf = ElfFile.parse(name, bytes)) {
            taker.take(name, Btf.parse(section(elf)));
        }
    }

    /** Closing the stream leaves the archive open. */
    private static BufferedInputStream buffered(InputStream in) {
        return new BufferedInputStream(new FilterInputStream(in) {
            @Override
            public void close() {}
        });
    }

    private static byte[] limited(String name, InputStream in) throws IOException {
        byte[] bytes = in.readNBytes(MAX_BYTES + 1);
        if (bytes.length > MAX_BYTES) {
            throw new IOException(name + ": larger than " + MAX_BYTES + " bytes, too large for BTF");
        }
        return bytes;
    }

    private static byte[] bytes(Path file, String name, long maxBytes) throws IOException {
        // Files of sysfs report a correct size, files of procfs report 0.
        if (Files.size(file) > maxBytes) {
            throw new IOException(name + ": larger than " + maxBytes + " bytes, too large for BTF");
        }
        return Files.readAllBytes(file);
    }

    private static ByteView section(ElfFile elf) throws IOException {
        Section section = elf.section(".BTF")
                .orElseThrow(() -> new IOException(
                        elf.source() + " has no section .BTF: it was compiled without BTF, or its BTF was stripped"));
        return elf.data(section);
    }

    private static ByteView view(String name, byte[] bytes) {
        return ByteView.of(name, bytes, ByteOrder.nativeOrder());
    }

    private static byte[] start(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return in.readNBytes(USTAR + 5);
        }
    }

    private static byte[] peek(BufferedInputStream in) throws IOException {
        in.mark(USTAR + 5);
        byte[] start = in.readNBytes(USTAR + 5);
        in.reset();
        return start;
    }

    private static boolean isBtf(byte[] start) {
        if (start.length < 2) {
            return false;
        }
        int magic = ((start[0] & 0xff) << 8) | (start[1] & 0xff);
        return magic == BTF_MAGIC || magic == Short.toUnsignedInt(Short.reverseBytes((short) BTF_MAGIC));
    }

    private static Kind kind(byte[] start) {
        if (isBtf(start)) {
            return Kind.BTF;
        }
        if (starts(start, 0, 0x7f, 'E', 'L', 'F')) {
            return Kind.ELF;
        }
        if (starts(start, 0, 0xfd, '7', 'z', 'X', 'Z', 0)) {
            return Kind.XZ;
        }
        if (starts(start, 0, 0x1f, 0x8b)) {
            return Kind.GZIP;
        }
        return starts(start, USTAR, 'u', 's', 't', 'a', 'r') ? Kind.TAR : Kind.OTHER;
    }

    private static boolean starts(byte[] bytes, int at, int... wanted) {
        for (int i = 0; i < wanted.length; i++) {
            if (at + i >= bytes.length || (bytes[at + i] & 0xff) != wanted[i]) {
                return false;
            }
        }
        return true;
    }
}
