package io.bpf4j.usdt.internal.note;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.ElfHeader;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Segment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which bytes of the file are loaded where, and whether a probe or a semaphore can be there. <b>Immutable</b>.
 *
 * <p>The kernel refuses all sites of a link for one that it doesn't like. So a place that it would refuse is refused
 * here, and costs its own note only.
 *
 * <p>An object file that is not linked yet (ET_REL) has no segments. Its notes are read all the same, without places.
 *
 * <p>Segments that overlap are no normal file: which one counts depends on who loads it. An address that two of them
 * claim for different bytes is refused rather than guessed.
 */
final class Segments {
    /** A semaphore is an unsigned short. */
    private static final int SEMAPHORE_BYTES = 2;

    /** Bytes that are mapped together, on machines with the smallest pages; on others more segments share a page. */
    private static final long PAGE = 4096;

    private final List<Segment> executable;
    private final List<Segment> writable;
    private final boolean unlinked;
    private final long containerOffset;
    private final long fileSize;
    private final boolean ignored;

    /**
     * What became of an address.
     *
     * @param offset byte offset in the file, 0 if there is a problem
     * @param problem why the address is no good, in words that follow "it is at 0x…", or null
     * @param warning why it may be no good in some processes, in such words, or null
     */
    record Place(
            long offset, @Nullable String problem, @Nullable String warning) {
        static Place refused(String problem) {
            return new Place(0, problem, null);
        }

        static Place at(long offset) {
            return new Place(offset, null, null);
        }
    }

    Segments(ElfFile elf) {
        List<Segment> all = elf.segments().stream()
                .filter(s -> s.type() == Segment.PT_LOAD && s.fileSize() != 0)
                .toList();
        this.ignored = all.size() > NoteLimits.MAX_SEGMENTS;
        List<Segment> loaded = ignored ? all.subList(0, NoteLimits.MAX_SEGMENTS) : all;
        this.executable = loaded.stream().filter(Segment::isExecutable).toList();
        this.writable =
                loaded.stream().filter(s -> (s.flags() & Segment.PF_W) != 0).toList();
        this.unlinked = elf.header().type() == ElfHeader.ET_REL;
        this.containerOffset = elf.containerOffset();
        // A file with debug information only has the headers of another, and lacks the code that they speak of.
        boolean codeIsElsewhere =
                elf.sections().stream().anyMatch(s -> s.type() == Section.SHT_NOBITS && s.isExecutable());
        this.fileSize = codeIsElsewhere ? Long.MAX_VALUE : elf.bytes().size();
    }

    /** Whether there are more segments than are looked at. */
    boolean areIgnored() {
        return ignored;
    }

    /** Where a probe at this address is in the file. */
    Place probe(long address) {
        return unlinked ? Place.at(0) : place(executable, address, 1, "outside of every executable segment");
    }

    /** Where a semaphore at this address is in the file. */
    Place semaphore(long address) {
        if (unlinked) {
            return Place.at(0);
        }
        // The kernel would count in the code, where it is writable as well; nothing honest asks for that.
        if (executable.stream().anyMatch(s -> offset(s, address, 1) >= 0)) {
            return Place.refused("in an executable segment");
        }
        Place place = place(writable, address, SEMAPHORE_BYTES, "outside of what the file holds of writable segments");
        if (place.problem() != null) {
            return place;
        }
        if (place.offset() == 0) {
            return Place.refused("at the start of the file, which means no semaphore to the kernel");
        }
        // uprobe_register() of kernel/events/uprobes.c refuses a counter that isn't aligned, by EINVAL.
        return place.offset() % SEMAPHORE_BYTES == 0
                ? new Place(place.offset(), null, mappedTwice(address))
                : Place.refused("at an odd offset of the file, where the kernel takes no counter");
    }

    /**
     * Segments are mapped by whole pages, so that two that lie in one page of the file both map it; lld puts the data that
     * becomes read-only (RELRO) and the rest so. The kernel raises a semaphore in the first writable mapping that has its
     * place in the file (find_ref_ctr_vma of kernel/events/uprobes.c), and the program reads it in its own.
     */
    private @Nullable String mappedTwice(long address) {
        for (Segment own : writable) {
            long offset = offset(own, address, SEMAPHORE_BYTES);
            if (offset < 0) {
                continue;
            }
            for (Segment other : writable) {
                boolean before = Long.compareUnsigned(other.virtualAddress(), own.virtualAddress()) < 0;
                long start = other.offset() & -PAGE;
                long end = (other.offset() + other.fileSize() + PAGE - 1) & -PAGE;
                if (before && offset >= start && offset < end) {
                    return "in a page of the file that the writable segment at 0x"
                            + Long.toHexString(other.virtualAddress())
                            + " maps, too: the kernel may raise the semaphore there, and the program, which reads it"
                            + " elsewhere, won't fire the probe";
                }
            }
        }
        return null;
    }

    private Place place(List<Segment> segments, long address, int bytes, String nowhere) {
        long found = -1;
        for (Segment segment : segments) {
            long offset = offset(segment, address, bytes);
            if (offset >= 0) {
                if (found >= 0 && found != offset) {
                    return Place.refused("in two segments that overlap, with different bytes there");
                }
                found = offset;
            }
        }
        if (found < 0) {
            return Place.refused(nowhere);
        }
        return found > fileSize - bytes
                ? Place.refused("beyond the end of the file of " + fileSize + " bytes")
                : Place.at(containerOffset + found);
    }

    /** The offset of these bytes in the ELF file, or -1 if the segment doesn't have them all. */
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
