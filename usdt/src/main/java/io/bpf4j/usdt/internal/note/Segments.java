package io.bpf4j.usdt.internal.note;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.Segment;
import java.util.List;
import java.util.OptionalLong;

/**
 * Which bytes of the file are loaded where. Where segments overlap, the first in the file's order counts.
 * <b>Immutable</b>.
 */
final class Segments {
    private final List<Segment> executable;
    private final List<Segment> writable;
    private final long containerOffset;

    Segments(ElfFile elf) {
        List<Segment> loaded = elf.segments().stream()
                .filter(s -> s.type() == Segment.PT_LOAD && s.fileSize() > 0)
                .toList();
        this.executable = loaded.stream().filter(Segment::isExecutable).toList();
        this.writable =
                loaded.stream().filter(s -> (s.flags() & Segment.PF_W) != 0).toList();
        this.containerOffset = elf.containerOffset();
    }

    /** File offset of an address in executable code. */
    OptionalLong executableOffset(long address) {
        return offset(executable, address);
    }

    /** File offset of an address in writable data that the file holds. */
    OptionalLong writableOffset(long address) {
        return offset(writable, address);
    }

    private OptionalLong offset(List<Segment> segments, long address) {
        for (Segment s : segments) {
            long into = address - s.virtualAddress();
            if (Long.compareUnsigned(address, s.virtualAddress()) >= 0
                    && Long.compareUnsigned(into, s.fileSize()) < 0) {
                return OptionalLong.of(containerOffset + s.offset() + into);
            }
        }
        return OptionalLong.empty();
    }
}
