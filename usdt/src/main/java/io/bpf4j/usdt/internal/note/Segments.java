package io.bpf4j.usdt.internal.note;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.ElfHeader;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Segment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The loaded segments of a file: converts addresses to file offsets, and checks whether a probe or a semaphore can be
 * at an address. <i>Immutable.</i>
 *
 * <p>The kernel refuses all sites of a link because of one invalid site. So this class refuses an invalid address, and
 * only the note with it is left out.
 *
 * <p>An object file that is not linked yet (ET_REL) has no segments. Its notes are read nevertheless, without file
 * offsets.
 *
 * <p>Segments of normal files do not overlap; of two overlapping segments, the loader decides which one is visible. An
 * address that two segments map to different bytes is refused.
 *
 * <p>Tested by {@code StapsdtReaderTest} and {@code NotePropertiesTest}.
 */
final class Segments {
    /** A semaphore is an unsigned short. */
    private static final int SEMAPHORE_BYTES = 2;

    /**
     * Bytes that are mapped together, on machines with the smallest pages; on other machines more segments share a
     * page.
     */
    private static final long PAGE = 4096;

    private static final long NOWHERE = -1;
    private static final long AMBIGUOUS = -2;

    private final List<Segment> executable;
    private final List<Segment> writable;
    private final boolean unlinked;
    private final long containerOffset;
    private final long fileSize;
    private final boolean tooMany;

    /**
     * The result of converting an address.
     *
     * @param offset byte offset in the file, 0 if there is a problem
     * @param problem the reason why the address can't be used, as a text that follows "it is at 0x…", or null
     * @param warning the reason why it may not work in some processes, as such a text, or null
     */
    record FileOffset(
            long offset, @Nullable String problem, @Nullable String warning) {
        static FileOffset refused(String problem) {
            return new FileOffset(0, problem, null);
        }

        static FileOffset at(long offset) {
            return new FileOffset(offset, null, null);
        }
    }

    Segments(ElfFile elf) {
        List<Segment> all = elf.segments().stream()
                .filter(s -> s.type() == Segment.PT_LOAD && s.fileSize() != 0)
                .toList();
        this.tooMany = all.size() > NoteLimits.MAX_SEGMENTS;
        List<Segment> loaded = tooMany ? all.subList(0, NoteLimits.MAX_SEGMENTS) : all;
        this.executable = loaded.stream().filter(Segment::isExecutable).toList();
        this.writable =
                loaded.stream().filter(s -> (s.flags() & Segment.PF_W) != 0).toList();
        this.unlinked = elf.header().type() == ElfHeader.ET_REL;
        this.containerOffset = elf.containerOffset();
        // A file that has only debug information has the headers of the original file, but not the code that they
        // describe.
        boolean codeIsElsewhere =
                elf.sections().stream().anyMatch(s -> s.type() == Section.SHT_NOBITS && s.isExecutable());
        this.fileSize = codeIsElsewhere ? Long.MAX_VALUE : elf.bytes().size();
    }

    /** Whether the file has more segments than the limit. */
    boolean exceedLimit() {
        return tooMany;
    }

    /** The file offset of a probe at this address; -1 if there is a problem, which {@link #probe} explains. */
    long probeOffset(long address) {
        if (unlinked) {
            return 0;
        }
        long found = find(executable, address, 1);
        return found < 0 || found > fileSize - 1 ? -1 : containerOffset + found;
    }

    /** The file offset of a probe at this address. */
    FileOffset probe(long address) {
        return unlinked ? FileOffset.at(0) : fileOffset(executable, address, 1, "outside of every executable segment");
    }

    /** The file offset of a semaphore at this address. */
    FileOffset semaphore(long address) {
        if (unlinked) {
            return FileOffset.at(0);
        }
        // The kernel would increment bytes of the code if the code is writable as well; no real file needs this.
        for (Segment segment : executable) {
            if (offset(segment, address, 1) >= 0) {
                return FileOffset.refused("in an executable segment");
            }
        }
        FileOffset found = fileOffset(
                writable,
                address,
                SEMAPHORE_BYTES,
                "outside of the part of the writable segments that the file contains");
        if (found.problem() != null) {
            return found;
        }
        if (found.offset() == 0) {
            return FileOffset.refused("at file offset 0, which to the kernel means no semaphore");
        }
        // uprobe_register() of kernel/events/uprobes.c refuses an unaligned semaphore with EINVAL.
        return found.offset() % SEMAPHORE_BYTES == 0
                ? new FileOffset(found.offset(), null, mappedTwice(address))
                : FileOffset.refused("at an odd file offset, where the kernel refuses a semaphore");
    }

    /**
     * Segments are mapped in whole pages, so two segments in one page of the file both map this page; lld lays out the
     * data that becomes read-only (RELRO) and the other data in this way. The kernel increments a semaphore in the
     * first writable mapping that contains its file offset (find_ref_ctr_vma of kernel/events/uprobes.c), but the
     * program reads it in the mapping of its own segment.
     */
    private @Nullable String mappedTwice(long address) {
        // All segments that hold the semaphore have it at one offset. Of these the one with the highest address comes
        // last in the process.
        Segment own = null;
        for (Segment segment : writable) {
            boolean holds = offset(segment, address, SEMAPHORE_BYTES) >= 0;
            if (holds && (own == null || isBefore(own, segment))) {
                own = segment;
            }
        }
        if (own == null) {
            return null;
        }
        long offset = offset(own, address, SEMAPHORE_BYTES);
        for (Segment other : writable) {
            long start = other.offset() & -PAGE;
            long end = (other.offset() + other.fileSize() + PAGE - 1) & -PAGE;
            if (isBefore(other, own) && offset >= start && offset < end) {
                return "in a page of the file that the writable segment at 0x"
                        + Long.toHexString(other.virtualAddress())
                        + " maps, too: the kernel may increment the semaphore in that mapping, and the program,"
                        + " which reads it in another one, won't fire the probe";
            }
        }
        return null;
    }

    private static boolean isBefore(Segment one, Segment other) {
        return Long.compareUnsigned(one.virtualAddress(), other.virtualAddress()) < 0;
    }

    private FileOffset fileOffset(List<Segment> segments, long address, int bytes, String nowhere) {
        long found = find(segments, address, bytes);
        if (found == AMBIGUOUS) {
            return FileOffset.refused("in two overlapping segments that map it to different bytes");
        }
        if (found == NOWHERE) {
            return FileOffset.refused(nowhere);
        }
        return found > fileSize - bytes
                ? FileOffset.refused("beyond the end of the file, which has " + fileSize + " bytes")
                : FileOffset.at(containerOffset + found);
    }

    /** The offset of these bytes in the ELF file, {@link #NOWHERE} or {@link #AMBIGUOUS}. */
    private static long find(List<Segment> segments, long address, int bytes) {
        long found = NOWHERE;
        for (int i = 0; i < segments.size(); i++) {
            long offset = offset(segments.get(i), address, bytes);
            if (offset >= 0) {
                if (found >= 0 && found != offset) {
                    return AMBIGUOUS;
                }
                found = offset;
            }
        }
        return found;
    }

    /** The offset of these bytes in the ELF file, or -1 if the segment doesn't contain all of them. */
    private static long offset(Segment segment, long address, int bytes) {
        long into = address - segment.virtualAddress();
        boolean inside = Long.compareUnsigned(address, segment.virtualAddress()) >= 0
                && Long.compareUnsigned(into, segment.fileSize()) < 0
                && Long.compareUnsigned(bytes, segment.fileSize() - into) <= 0;
        if (!inside) {
            return -1;
        }
        long offset = segment.offset() + into;
        // An offset of more than 63 bits is far beyond the end of any file.
        return offset < 0 ? Long.MAX_VALUE : offset;
    }
}
