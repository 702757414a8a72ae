package io.bpf4j.trace.stack;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.Segment;
import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.process.MappedRange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds where a process had mapped the files with probes, from the stacks of the probes' events alone. <i>Confined.</i>
 *
 * <p>A process may have ended before its mappings could be read. But the innermost address of a stack is that of a
 * probe, whose offset in its file is known, and all segments of a file are mapped at the same distance from where the
 * file has them:
 *
 * <pre>
 * address of the probe    0x55d3_4a20_1149      of the only probe at offset ..149 of a page
 * offset in the file              0x0000_1149
 * start of the file       0x55d3_4a20_0000
 * </pre>
 *
 * <p>A file is mapped by whole pages, so address and offset have the same low bits. If several probes have the same low
 * bits, the address is skipped; another stack of the process may show the mapping, or it remains unknown.
 *
 * <p>Tested by {@code SymbolizerTest} and {@code CliStackTest}.
 */
final class ProbeSites {
    /** The smallest page size; on machines with larger pages, more bits are equal. */
    private static final int PAGE = 1 << 12;

    /** The maximum number of probes of all files; further probes are ignored. */
    private static final int MAX_PROBES = 1 << 16;

    private final Map<Long, List<Site>> byPageOffset = new HashMap<>();
    private int size;

    /** A probe in the code of a file. */
    private record Site(Code file, Segment segment, long fileOffset) {
        /** The distance from the addresses in the file to those in the process, if the probe is at this address. */
        Loaded at(long address) {
            return new Loaded(
                    file, address - (fileOffset - file.container() - segment.offset()) - segment.virtualAddress());
        }
    }

    /** A file, with the parts of it that are mapped as code. */
    private record Code(FileName name, FileIdentity identity, long container, List<Segment> segments) {}

    /** A file that is mapped in a process. */
    private record Loaded(Code file, long bias) {
        List<MappedRange> mappings() {
            return file.segments().stream()
                    .map(segment -> new MappedRange(
                            bias + segment.virtualAddress(),
                            bias + segment.virtualAddress() + segment.fileSize(),
                            "r-xp",
                            file.container() + segment.offset(),
                            file.identity().device(),
                            file.identity().inode(),
                            file.name()))
                    .toList();
        }
    }

    /** Adds the probes of a file, by their offsets in bytes. */
    void add(ElfFile elf, FileName name, FileIdentity identity, Collection<Long> offsets) {
        Code code = new Code(
                name,
                identity,
                elf.containerOffset(),
                elf.segments().stream()
                        .filter(segment -> segment.type() == Segment.PT_LOAD && segment.isExecutable())
                        .toList());
        for (long offset : offsets) {
            for (Segment segment : code.segments()) {
                long inSegment = offset - code.container() - segment.offset();
                if (inSegment >= 0 && inSegment < segment.fileSize() && size < MAX_PROBES) {
                    size++;
                    byPageOffset
                            .computeIfAbsent(offset % PAGE, _ -> new ArrayList<>())
                            .add(new Site(code, segment, offset));
                }
            }
        }
    }

    /**
     * The mappings of the files in a process.
     *
     * @param innermost the innermost addresses of its stacks
     */
    List<MappedRange> mappings(Collection<Long> innermost) {
        Set<Loaded> known = new HashSet<>();
        for (long address : innermost) {
            List<Site> sites = byPageOffset.getOrDefault(address & PAGE - 1, List.of());
            if (sites.size() == 1) {
                known.add(sites.getFirst().at(address));
            }
        }
        return known.stream().flatMap(loaded -> loaded.mappings().stream()).toList();
    }
}
