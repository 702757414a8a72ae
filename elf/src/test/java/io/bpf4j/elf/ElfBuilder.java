package io.bpf4j.elf;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Builds ELF images for tests: header, contents of the sections one after the other, segment table, section table.
 *
 * <p>It writes what it is told, so that tests can lie: any number of a section or segment may be given as is.
 */
final class ElfBuilder {
    /** No number that a test would lie with. */
    private static final long UNSET = Long.MIN_VALUE + 4711;

    final ElfClass elfClass;
    final ByteOrder order;
    private final List<Header> sections = new ArrayList<>();
    private final List<Load> segments = new ArrayList<>();
    private final ByteWriter names;
    private int type = ElfHeader.ET_REL;
    private int machine = ElfHeader.EM_X86_64;
    private boolean sectionHeaders = true;
    private boolean extendedNumbering;
    private int paddingSections;

    /** A section header to be; the offset and size of its data are filled in unless given. */
    static final class Header {
        final byte[] data;
        int name;
        int type;
        long flags;
        long address;
        long offset = UNSET;
        long size = UNSET;
        long link;
        long info;
        long alignment = 1;
        long entrySize;

        Header(int type, byte[] data) {
            this.type = type;
            this.data = data;
        }
    }

    private record Load(int type, int section, long address, long alignment) {}

    ElfBuilder(ElfClass elfClass, ByteOrder order) {
        this.elfClass = elfClass;
        this.order = order;
        this.names = writer().u8(0);
        sections.add(new Header(Section.SHT_NULL, new byte[0]));
    }

    static ElfBuilder elf64() {
        return new ElfBuilder(ElfClass.ELF64, ByteOrder.LITTLE_ENDIAN);
    }

    ByteWriter writer() {
        return new ByteWriter(elfClass, order);
    }

    ElfBuilder type(int value) {
        type = value;
        return this;
    }

    ElfBuilder machine(int value) {
        machine = value;
        return this;
    }

    ElfBuilder withoutSectionHeaders() {
        sectionHeaders = false;
        return this;
    }

    /** Puts all counts into section 0, whether or not they would fit the header. */
    ElfBuilder extendedNumbering() {
        extendedNumbering = true;
        return this;
    }

    /** Adds so many empty sections before the section names. */
    ElfBuilder paddingSections(int count) {
        paddingSections = count;
        return this;
    }

    int sectionCount() {
        return sections.size();
    }

    int section(String name, int type, byte[] data) {
        return section(name, type, data, _ -> {});
    }

    int section(String name, int sectionType, byte[] data, Consumer<Header> edit) {
        Header header = new Header(sectionType, data);
        header.name = names.size();
        names.string(name);
        edit.accept(header);
        sections.add(header);
        return sections.size() - 1;
    }

    /** A segment with the contents of a section. */
    ElfBuilder segment(int segmentType, int section, long address, long alignment) {
        segments.add(new Load(segmentType, section, address, alignment));
        return this;
    }

    /** The bytes of one symbol. */
    void symbol(ByteWriter table, int name, long value, long size, int info, int other, int section) {
        switch (elfClass) {
            case ELF32 ->
                table.u32(name).u32(value).u32(size).u8(info).u8(other).u16(section);
            case ELF64 ->
                table.u32(name).u8(info).u8(other).u16(section).u64(value).u64(size);
        }
    }

    /** The bytes of one relocation. */
    void relocation(ByteWriter table, long offset, int symbol, int relocationType) {
        table.word(offset);
        switch (elfClass) {
            case ELF32 -> table.u32(((long) symbol << 8) | relocationType);
            case ELF64 -> table.u64(((long) symbol << 32) | relocationType);
        }
    }

    byte[] note(String owner, int noteType, byte[] description, int alignment) {
        return writer().u32(owner.length() + 1)
                .u32(description.length)
                .u32(noteType)
                .string(owner)
                .align(alignment)
                .raw(description)
                .align(alignment)
                .toByteArray();
    }

    byte[] build() {
        for (int i = 0; i < paddingSections; i++) {
            sections.add(new Header(Section.SHT_PROGBITS, new byte[0]));
        }
        int namesIndex = section(".shstrtab", Section.SHT_STRTAB, new byte[0]);
        Header namesHeader = new Header(Section.SHT_STRTAB, names.toByteArray());
        namesHeader.name = sections.get(namesIndex).name;
        sections.set(namesIndex, namesHeader);

        ByteWriter contents = writer();
        long base = elfClass.headerSize;
        for (Header section : sections) {
            if (section.offset == UNSET) {
                contents.align(8);
                section.offset = section.type == Section.SHT_NULL ? 0 : base + contents.size();
            }
            if (section.size == UNSET) {
                section.size = section.data.length;
            }
            contents.raw(section.data);
        }
        contents.align(8);
        long segmentTable = segments.isEmpty() ? 0 : base + contents.size();
        long sectionTable =
                sectionHeaders ? base + contents.size() + (long) segments.size() * elfClass.programHeaderSize : 0;
        if (extendedNumbering) {
            Header zero = sections.getFirst();
            zero.size = sections.size();
            zero.link = namesIndex;
            zero.info = segments.size();
        }
        ByteWriter file = writer();
        header(file, segmentTable, sectionTable, namesIndex);
        file.raw(contents.toByteArray());
        segments.forEach(segment -> write(file, segment));
        if (sectionHeaders) {
            sections.forEach(section -> write(file, section));
        }
        return file.toByteArray();
    }

    private void header(ByteWriter file, long segmentTable, long sectionTable, int namesIndex) {
        file.raw(new byte[] {0x7f, 'E', 'L', 'F'});
        file.u8(elfClass == ElfClass.ELF32 ? 1 : 2).u8(order == ByteOrder.LITTLE_ENDIAN ? 1 : 2);
        file.u8(1).u8(3).u8(1).raw(new byte[7]);
        file.u16(type).u16(machine).u32(1);
        file.word(0x401000).word(segmentTable).word(sectionTable).u32(0x12345678);
        file.u16(elfClass.headerSize).u16(elfClass.programHeaderSize);
        file.u16(extendedNumbering ? 0xffff : segments.size());
        file.u16(elfClass.sectionHeaderSize);
        file.u16(extendedNumbering || !sectionHeaders ? 0 : sections.size());
        file.u16(extendedNumbering ? 0xffff : sectionHeaders ? namesIndex : 0);
    }

    private void write(ByteWriter file, Load segment) {
        Header section = sections.get(segment.section());
        long address = segment.address();
        switch (elfClass) {
            case ELF32 -> {
                file.u32(segment.type()).u32(section.offset).u32(address).u32(address);
                file.u32(section.size).u32(section.size + 16).u32(Segment.PF_R | Segment.PF_X);
                file.u32(segment.alignment());
            }
            case ELF64 -> {
                file.u32(segment.type()).u32(Segment.PF_R | Segment.PF_X).u64(section.offset);
                file.u64(address).u64(address).u64(section.size).u64(section.size + 16);
                file.u64(segment.alignment());
            }
        }
    }

    private void write(ByteWriter file, Header section) {
        file.u32(section.name).u32(section.type).word(section.flags).word(section.address);
        file.word(section.offset).word(section.size).u32(section.link).u32(section.info);
        file.word(section.alignment).word(section.entrySize);
    }
}
