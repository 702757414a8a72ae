package io.bpf4j.loader.spec;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.Section;

/**
 * The bytes of sections, limited in total to the size of the file. Sections of a hostile file may overlap, and each
 * section with code or data becomes objects several times its size. Sections that a compiler writes never overlap.
 * <i>Confined.</i>
 */
final class SectionBytes {
    private final ElfFile elf;
    private long left;

    SectionBytes(ElfFile elf) {
        this.elf = elf;
        this.left = elf.bytes().size();
    }

    /** The bytes of a section of code or of variables; request each section only once. */
    ByteView of(Section section) {
        ByteView data = elf.data(section);
        left -= data.size();
        if (left < 0) {
            throw data.malformed(
                    0,
                    "section \"" + section.name()
                            + "\" overlaps others: sections of code and data are together larger than the file");
        }
        return data;
    }
}
