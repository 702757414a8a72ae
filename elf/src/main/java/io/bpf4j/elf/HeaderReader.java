package io.bpf4j.elf;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;

/**
 * Reads the ELF header and the two tables that it leads to.
 *
 * <pre>
 *   7f 45 4c 46  02 01 01 00  00 00 00 00 00 00 00 00   03 00  3e 00  01 00 00 00
 *   magic "ELF"  |  |  |  OS ABI                        type   mach.  version
 *                |  |  version 1
 *                |  1 little-endian, 2 big-endian
 *                1 32-bit, 2 64-bit
 * </pre>
 *
 * After that the layout depends on the size {@code a} of an address, 4 or 8 bytes: entry, segment table offset and
 * section table offset of {@code a} bytes each, then 32 bits of flags and six 16-bit numbers.
 *
 * <p><b>Extended numbering.</b> The three counts of the header have 16 bits, and section indices from 0xff00 on are
 * reserved. A file with larger numbers stores the true numbers in section 0, which has no other use:
 *
 * <table>
 * <caption>Where the true numbers are</caption>
 * <tr><th>what</th><th>the header says</th><th>the truth is in section 0's</th></tr>
 * <tr><td>number of sections</td><td>e_shnum = 0, although e_shoff isn't</td><td>sh_size</td></tr>
 * <tr><td>index of section names</td><td>e_shstrndx = 0xffff (SHN_XINDEX)</td><td>sh_link</td></tr>
 * <tr><td>number of segments</td><td>e_phnum = 0xffff (PN_XNUM; core dumps)</td><td>sh_info</td></tr>
 * </table>
 *
 * A symbol's 16-bit section index has a similar extension, see {@link SymbolTable}. Source: System V gABI, "ELF
 * Header"; for PN_XNUM {@code man 5 elf}.
 *
 * <p>A count is accepted only after a check that a table with that many entries is inside the file: a malicious count
 * can't cause an allocation larger than the file's size justifies.
 *
 * <p>Tested by {@code ElfFileTest} and {@code ExtendedNumberingTest}.
 */
final class HeaderReader {
    private static final byte[] MAGIC = {0x7f, 'E', 'L', 'F'};
    private static final int IDENT_SIZE = 16;
    private static final int SHN_XINDEX = 0xffff;
    private static final int PN_XNUM = 0xffff;

    /** The file, in its declared byte order. */
    private final ByteView file;

    private final ElfClass elfClass;
    private final int a;

    private HeaderReader(ByteView file, ElfClass elfClass) {
        this.file = file;
        this.elfClass = elfClass;
        this.a = elfClass.addressSize();
    }

    /** The declared byte order of a file, after a check that it is an ELF file. */
    static ByteOrder order(ByteView file) {
        if (file.isEmpty()) {
            throw file.malformed(0, "not an ELF file: it is empty");
        }
        if (!file.matches(0, MAGIC)) {
            throw file.malformed(0, "not an ELF file: starts with " + firstBytes(file));
        }
        if (file.size() < IDENT_SIZE) {
            throw file.malformed(
                    file.size(), "ELF file cut short: " + file.size() + " bytes, less than the 16 that identify it");
        }
        int data = file.u8(5);
        return switch (data) {
            case 1 -> ByteOrder.LITTLE_ENDIAN;
            case 2 -> ByteOrder.BIG_ENDIAN;
            default -> throw file.malformed(5, "byte order " + data + ", neither 1 (little-endian) nor 2 (big-endian)");
        };
    }

    private static String firstBytes(ByteView file) {
        byte[] start = file.slice(0, Math.min(4, file.size())).toByteArray();
        StringBuilder text = new StringBuilder(HexFormat.ofDelimiter(" ").formatHex(start)).append(" \"");
        for (char c : new String(start, StandardCharsets.ISO_8859_1).toCharArray()) {
            text.append(c >= ' ' && c <= '~' ? c : '.');
        }
        return text.append('"').toString();
    }

    static HeaderReader of(ByteView file) {
        int elfClass = file.u8(4);
        if (elfClass != 1 && elfClass != 2) {
            throw file.malformed(4, "ELF class " + elfClass + ", neither 1 (32 bits) nor 2 (64 bits)");
        }
        if (file.u8(6) != 1) {
            throw file.malformed(6, "ELF version " + file.u8(6) + ", not 1");
        }
        return new HeaderReader(file, elfClass == 1 ? ElfClass.ELF32 : ElfClass.ELF64);
    }

    ElfHeader header() {
        if (file.size() < elfClass.headerSize) {
            throw file.malformed(
                    file.size(),
                    "ELF file cut short: " + file.size() + " bytes, less than its header of " + elfClass.headerSize);
        }
        int counts = 28 + 3 * a; // from e_ehsize on, six fields of 16 bits
        long segmentTable = elfClass.readWord(file, 24 + a);
        long sectionTable = elfClass.readWord(file, 24 + 2L * a);
        int segmentEntry = file.u16(counts + 2);
        int sectionEntry = file.u16(counts + 6);
        Counts numbers = counts(counts, sectionTable, sectionEntry);
        checkTable("section", counts + 8, sectionTable, sectionEntry, numbers.sections(), elfClass.sectionHeaderSize);
        checkTable("segment", counts + 4, segmentTable, segmentEntry, numbers.segments(), elfClass.programHeaderSize);
        if (numbers.names() != 0 && Long.compareUnsigned(numbers.names(), numbers.sections()) >= 0) {
            throw file.malformed(
                    counts + 10,
                    "section names are in section " + Long.toUnsignedString(numbers.names()) + ", but there are "
                            + numbers.sections() + " sections");
        }
        return new ElfHeader(
                elfClass,
                file.order(),
                file.u8(7),
                file.u8(8),
                file.u16(16),
                file.u16(18),
                elfClass.readWord(file, 24),
                file.s32(24 + 3L * a),
                segmentTable,
                segmentEntry,
                numbers.segments(),
                sectionTable,
                sectionEntry,
                numbers.sections(),
                numbers.names());
    }

    /** The numbers of segments and sections, and the number of the section with their names. */
    private record Counts(long segments, long sections, long names) {}

    /** Numbers that do not fit 16 bits are in fields of section 0, which are else unused. */
    private Counts counts(int at, long sectionTable, int sectionEntry) {
        long segments = file.u16(at + 4);
        long sections = file.u16(at + 8);
        long names = file.u16(at + 10);
        if (sectionTable == 0) {
            if (segments == PN_XNUM) {
                throw file.malformed(at + 4, "more than 65,534 segments, but no section 0 with their number");
            }
            // Without a table the file has no sections, whatever the counts are: a stripped file may keep the counts.
            return new Counts(segments, 0, 0);
        }
        if (sections != 0 && names != SHN_XINDEX && segments != PN_XNUM) {
            return new Counts(segments, sections, names);
        }
        checkTable("section", at + 6, sectionTable, sectionEntry, 1, elfClass.sectionHeaderSize);
        ByteView zero = file.slice(sectionTable, elfClass.sectionHeaderSize);
        return new Counts(
                segments == PN_XNUM ? zero.u32(12 + 4L * a) : segments,
                sections == 0 ? elfClass.readWord(zero, 8 + 3L * a) : sections,
                names == SHN_XINDEX ? zero.u32(8 + 4L * a) : names);
    }

    private void checkTable(String tableName, long field, long offset, int entrySize, long count, int minEntrySize) {
        if (count == 0) {
            return;
        }
        if (entrySize < minEntrySize) {
            throw file.malformed(
                    field, tableName + " table with entries of " + entrySize + " bytes, less than " + minEntrySize);
        }
        // Divide instead of multiplying: count * entrySize may overflow.
        if (offset < 0 || offset > file.size() || count < 0 || count > (file.size() - offset) / entrySize) {
            throw file.malformed(
                    field,
                    "table of " + Long.toUnsignedString(count) + " " + tableName + "s of " + entrySize + " bytes at 0x"
                            + Long.toHexString(offset) + " ends outside the file of " + file.size()
                            + " bytes: cut short, or damaged");
        }
    }

    List<Segment> segments(ElfHeader header, ElfLimits limits) {
        if (header.programHeaderCount() > limits.maxSections()) {
            throw file.malformed(
                    header.programHeaderOffset(),
                    header.programHeaderCount() + " segments, more than the " + limits.maxSections()
                            + " accepted; raise ElfLimits");
        }
        List<Segment> segments = new ArrayList<>();
        for (int i = 0; i < header.programHeaderCount(); i++) {
            ByteView entry = entry(header.programHeaderOffset(), header.programHeaderEntrySize(), i);
            segments.add(
                    switch (elfClass) {
                        case ELF32 ->
                            new Segment(
                                    i,
                                    entry.s32(0),
                                    entry.s32(24),
                                    entry.u32(4),
                                    entry.u32(8),
                                    entry.u32(12),
                                    entry.u32(16),
                                    entry.u32(20),
                                    entry.u32(28));
                        case ELF64 ->
                            new Segment(
                                    i,
                                    entry.s32(0),
                                    entry.s32(4),
                                    entry.s64(8),
                                    entry.s64(16),
                                    entry.s64(24),
                                    entry.s64(32),
                                    entry.s64(40),
                                    entry.s64(48));
                    });
        }
        return Collections.unmodifiableList(segments);
    }

    List<Section> sections(ElfHeader header, ElfLimits limits) {
        long count = header.sectionHeaderCount();
        if (count > limits.maxSections()) {
            throw file.malformed(
                    header.sectionHeaderOffset(),
                    count + " sections, more than the " + limits.maxSections() + " accepted; raise ElfLimits");
        }
        if (count == 0) {
            return List.of();
        }
        NameReader names = sectionNames(header, limits);
        List<Section> sections = new ArrayList<>((int) count);
        for (int i = 0; i < count; i++) {
            sections.add(section(header, names, i));
        }
        return Collections.unmodifiableList(sections);
    }

    private NameReader sectionNames(ElfHeader header, ElfLimits limits) {
        int index = (int) header.sectionNameTableIndex();
        if (index == 0) {
            return NameReader.unnamed();
        }
        long entryOffset = header.sectionHeaderOffset() + (long) index * header.sectionHeaderEntrySize();
        Section table = section(header, NameReader.unnamed(), index);
        if (table.type() != Section.SHT_STRTAB) {
            throw file.malformed(
                    entryOffset, "section names are in section " + index + ", which is not a string table");
        }
        return new NameReader(bytesOf(file, table, entryOffset), header.sectionHeaderCount(), limits);
    }

    private Section section(ElfHeader header, NameReader names, int index) {
        ByteView entry = entry(header.sectionHeaderOffset(), header.sectionHeaderEntrySize(), index);
        return new Section(
                index,
                names.name(entry.u32(0)),
                entry.s32(4),
                elfClass.readWord(entry, 8),
                elfClass.readWord(entry, 8 + a),
                elfClass.readWord(entry, 8 + 2L * a),
                elfClass.readWord(entry, 8 + 3L * a),
                entry.s32(8 + 4L * a),
                entry.s32(12 + 4L * a),
                elfClass.readWord(entry, 16 + 4L * a),
                elfClass.readWord(entry, 16 + 5L * a));
    }

    private ByteView entry(long table, int entrySize, long index) {
        return file.slice(table + index * entrySize, entrySize);
    }

    /**
     * A section's bytes as they are in the file. If they are outside the file, the error message has the place {@code
     * headerOffset}.
     */
    static ByteView bytesOf(ByteView file, Section section, long headerOffset) {
        if (section.type() == Section.SHT_NOBITS || section.type() == Section.SHT_NULL) {
            return file.slice(0, 0);
        }
        if (section.offset() < 0 || section.size() < 0 || section.offset() > file.size() - section.size()) {
            throw file.malformed(
                    headerOffset,
                    "section " + section.index() + (section.name().isEmpty() ? "" : " (" + section.name() + ")")
                            + " of " + Long.toUnsignedString(section.size()) + " bytes at 0x"
                            + Long.toHexString(section.offset()) + " lies outside the file of " + file.size()
                            + " bytes: cut short, or damaged");
        }
        return file.slice(section.offset(), section.size());
    }
}
