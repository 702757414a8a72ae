package io.bpf4j.elf;

import io.bpf4j.elf.internal.text.FileName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.zip.CRC32;

/**
 * Finds the separate file with the symbols and debug information of a stripped file, in the places that distributions
 * and GDB use ("Debugging Information in Separate Files" in its manual):
 *
 * <ol>
 *   <li>by build ID {@code abcdef…}: {@code /usr/lib/debug/.build-id/ab/cdef….debug}
 *   <li>by debug link {@code x.debug} of {@code /usr/bin/x}: {@code /usr/bin/x.debug}, {@code /usr/bin/.debug/x.debug},
 *       {@code /usr/lib/debug/usr/bin/x.debug}
 * </ol>
 *
 * A candidate is accepted only if its build ID matches, or, if one of the two files has no build ID, its checksum.
 * <i>Immutable.</i>
 *
 * <p>Tested by {@code OpenElfFileTest}.
 *
 * @param debugRoot the directory of debug files, normally {@code /usr/lib/debug}
 */
public record DebugFiles(Path debugRoot) {
    private static final int CHUNK = 1 << 16;

    /**
     * The largest file whose checksum is computed, which takes half a second. The debug link of another owner's file
     * may name a sparse file of any size. Larger files with debug information have a build ID.
     */
    private static final long MAX_CHECKED_BYTES = 1L << 30;

    /** Searches below {@code /usr/lib/debug}. */
    public static DebugFiles standard() {
        return new DebugFiles(Path.of("/usr/lib/debug"));
    }

    /** Opens the debug file of an ELF file; the caller closes it. Empty if no readable debug file exists. */
    public Optional<ElfFile> open(ElfFile elf) {
        Optional<String> buildId = elf.buildId().filter(id -> id.length() > 2);
        if (buildId.isPresent()) {
            String id = buildId.get();
            Path candidate = debugRoot.resolve(".build-id/" + id.substring(0, 2) + "/" + id.substring(2) + ".debug");
            Optional<ElfFile> found =
                    open(candidate, elf.opener(), debug -> debug.buildId().equals(buildId));
            if (found.isPresent()) {
                return found;
            }
        }
        Optional<DebugLink> link = elf.debugLink();
        if (link.isEmpty()) {
            return Optional.empty();
        }
        for (Path candidate : linkCandidates(elf, link.get().fileName())) {
            Optional<ElfFile> found = open(candidate, elf.opener(), debug -> matches(debug, buildId, link.get()));
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    private static boolean matches(ElfFile debug, Optional<String> buildId, DebugLink link) {
        Optional<String> other = buildId.isPresent() ? debug.buildId() : Optional.empty();
        return other.isPresent()
                ? other.equals(buildId)
                : debug.bytes().size() <= MAX_CHECKED_BYTES && crc32(debug.bytes()) == link.crc32();
    }

    private List<Path> linkCandidates(ElfFile elf, FileName fileName) {
        List<Path> candidates = new ArrayList<>();
        elf.path().map(path -> path.toAbsolutePath().getParent()).ifPresent(directory -> {
            candidates.add(fileName.below(directory));
            candidates.add(fileName.below(directory.resolve(".debug")));
            candidates.add(fileName.below(debugRoot.resolve(directory.getRoot().relativize(directory))));
        });
        return candidates;
    }

    private static Optional<ElfFile> open(Path candidate, FileOpener opener, Predicate<ElfFile> accepted) {
        if (!Files.isRegularFile(candidate)) {
            return Optional.empty();
        }
        ElfFile debug;
        try {
            debug = ElfFile.open(candidate, opener);
        } catch (IOException | MalformedDataException e) {
            return Optional.empty(); // a debug file that can't be read counts as missing
        }
        boolean keep = false;
        try {
            keep = accepted.test(debug);
            return keep ? Optional.of(debug) : Optional.empty();
        } catch (MalformedDataException e) {
            return Optional.empty();
        } finally {
            if (!keep) {
                debug.close();
            }
        }
    }

    private static long crc32(ByteView bytes) {
        CRC32 crc = new CRC32();
        byte[] chunk = new byte[CHUNK];
        for (long at = 0; at < bytes.size(); at += chunk.length) {
            int length = (int) Math.min(chunk.length, bytes.size() - at);
            bytes.copy(at, chunk, 0, length);
            crc.update(chunk, 0, length);
        }
        return crc.getValue();
    }
}
