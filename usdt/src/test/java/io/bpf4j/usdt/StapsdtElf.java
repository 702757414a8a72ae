package io.bpf4j.usdt;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.DeflaterOutputStream;

/**
 * Makes small ELF files with stapsdt notes: one executable segment (addresses from 0x1000, file offset 0x1000), one
 * writable one (addresses from 0x5000, file offset 0x3000, 0x100 bytes of which the file holds the first 0x80), the
 * notes, the base section, and a symbol table. More segments and more sections of the same notes on demand.
 */
public final class StapsdtElf {
    public static final long CODE = 0x1000;
    public static final long CODE_SIZE = 0x1000;
    public static final long DATA = 0x5000;
    public static final long DATA_OFFSET = 0x3000;
    public static final long BASE = 0x1f00;

    private static final int SHF_COMPRESSED = 0x800;

    private final boolean is64;
    private final ByteOrder order;
    private final int machine;
    private final ByteArrayOutputStream notes = new ByteArrayOutputStream();
    private final List<Symbol> symbols = new ArrayList<>();
    private int type = 3;
    private long base = BASE;
    private long linkedBase = BASE;
    private final List<Segment> moreSegments = new ArrayList<>();
    private int noteSections = 1;
    private int textType = 1;
    private boolean compressed;

    private record Symbol(String name, long value, int type, int section) {}

    private record Segment(int flags, long offset, long address, long fileSize) {}

    public StapsdtElf(boolean is64, ByteOrder order, int machine) {
        this.is64 = is64;
        this.order = order;
        this.machine = machine;
    }

    public static StapsdtElf x86_64() {
        return new StapsdtElf(true, ByteOrder.LITTLE_ENDIAN, 62);
    }

    /** ELF type: 1 for ET_REL, 2 for ET_EXEC, 3 for ET_DYN, 4 for ET_CORE. */
    public StapsdtElf type(int elfType) {
        this.type = elfType;
        return this;
    }

    public int machine() {
        return machine;
    }

    /** One more loaded segment; flags: 4 readable, 2 writable, 1 executable. */
    public StapsdtElf segment(int flags, long offset, long address, long fileSize) {
        moreSegments.add(new Segment(flags, offset, address, fileSize));
        return this;
    }

    /** So many sections that all are the same notes. */
    public StapsdtElf noteSections(int count) {
        this.noteSections = count;
        return this;
    }

    /** Compresses the section of the notes; 64-bit files only. */
    public StapsdtElf compressedNotes() {
        this.compressed = true;
        return this;
    }

    /** Makes it a file with debug information only, which says where code would be. */
    public StapsdtElf withoutCode() {
        this.textType = 8;
        return this;
    }

    /** Where .stapsdt.base is now; notes still say {@link #BASE}. */
    public StapsdtElf baseAt(long address) {
        this.base = address;
        return this;
    }

    /** Where the notes that follow say that .stapsdt.base was when the file was linked. */
    public StapsdtElf linkedWithBaseAt(long address) {
        this.linkedBase = address;
        return this;
    }

    public StapsdtElf symbol(String name, long value, int symbolType) {
        symbols.add(new Symbol(name, value, symbolType, 1));
        return this;
    }

    public StapsdtElf undefined(String name) {
        symbols.add(new Symbol(name, 0, 1, 0));
        return this;
    }

    public StapsdtElf note(String provider, String name, String args, long address, long semaphore) {
        byte[] text = (provider + "\0" + name + "\0" + args + "\0").getBytes(StandardCharsets.UTF_8);
        byte[] bytes = new byte[(is64 ? 24 : 12) + text.length];
        ByteBuffer description = over(bytes);
        word(description, address);
        word(description, linkedBase);
        word(description, semaphore);
        description.put(text);
        return note(8, bytes.length, 3, "stapsdt\0", bytes);
    }

    /** A note whose text may lack its NULs, and whose sizes are wrong by so much. */
    public StapsdtElf note(long address, long semaphore, String text, int ownerLie, int descriptionLie) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        byte[] description = new byte[(is64 ? 24 : 12) + bytes.length];
        ByteBuffer out = over(description);
        word(out, address);
        word(out, linkedBase);
        word(out, semaphore);
        out.put(bytes);
        return note(8 + ownerLie, description.length + descriptionLie, 3, "stapsdt\0", description);
    }

    /** A note whose parts are whatever is given. */
    public StapsdtElf note(int ownerSize, int descriptionSize, int noteType, String owner, byte[] description) {
        byte[] header = new byte[12];
        over(header).putInt(ownerSize).putInt(descriptionSize).putInt(noteType);
        notes.writeBytes(header);
        notes.writeBytes(padded(owner.getBytes(StandardCharsets.ISO_8859_1)));
        notes.writeBytes(padded(description));
        return this;
    }

    public StapsdtElf rawNotes(byte[] bytes) {
        notes.writeBytes(bytes);
        return this;
    }

    public byte[] build() {
        byte[] noteBytes = compressed ? deflated(notes.toByteArray()) : notes.toByteArray();
        StringBuilder names = new StringBuilder("\0");
        byte[] symbolTable = new byte[(symbols.size() + 1) * (is64 ? 24 : 16)];
        ByteBuffer symtab = over(symbolTable);
        symtab.position(is64 ? 24 : 16);
        for (Symbol s : symbols) {
            int nameAt = names.length();
            names.append(s.name).append('\0');
            if (is64) {
                symtab.putInt(nameAt)
                        .put((byte) s.type)
                        .put((byte) 0)
                        .putShort((short) s.section)
                        .putLong(s.value)
                        .putLong(4);
            } else {
                symtab.putInt(nameAt)
                        .putInt((int) s.value)
                        .putInt(4)
                        .put((byte) s.type)
                        .put((byte) 0)
                        .putShort((short) s.section);
            }
        }
        byte[] strtab = names.toString().getBytes(StandardCharsets.UTF_8);
        String sectionNames = "\0.text\0.note.stapsdt\0.stapsdt.base\0.symtab\0.strtab\0.shstrtab\0";
        byte[] shstrtab = sectionNames.getBytes(StandardCharsets.UTF_8);

        int notesAt = 0x4000;
        int symtabAt = align(notesAt + noteBytes.length);
        int strtabAt = symtabAt + symbolTable.length;
        int shstrtabAt = strtabAt + strtab.length;
        int sectionsAt = align(shstrtabAt + shstrtab.length);
        int sectionCount = 6 + noteSections;
        int segmentsAt = sectionsAt + sectionCount * (is64 ? 64 : 40);
        int segmentCount = type == 1 ? 0 : 2 + moreSegments.size();
        byte[] file = new byte[segmentsAt + segmentCount * (is64 ? 56 : 32)];
        ByteBuffer out = over(file);

        out.put(new byte[] {
            0x7f, 'E', 'L', 'F', (byte) (is64 ? 2 : 1), (byte) (order == ByteOrder.LITTLE_ENDIAN ? 1 : 2), 1
        });
        out.position(16);
        out.putShort((short) type).putShort((short) machine).putInt(1);
        word(out, 0);
        word(out, segmentCount == 0 ? 0 : segmentsAt);
        word(out, sectionsAt);
        out.putInt(0);
        out.putShort((short) (is64 ? 64 : 52))
                .putShort((short) (is64 ? 56 : 32))
                .putShort((short) segmentCount);
        out.putShort((short) (is64 ? 64 : 40)).putShort((short) sectionCount).putShort((short) (sectionCount - 1));
        if (segmentCount > 0) {
            out.position(segmentsAt);
            segment(out, 5, 0x1000, CODE, CODE_SIZE, CODE_SIZE);
            segment(out, 6, DATA_OFFSET, DATA, 0x80, 0x100);
            for (Segment s : moreSegments) {
                segment(out, s.flags, s.offset, s.address, s.fileSize, s.fileSize);
            }
        }
        out.position(notesAt).put(noteBytes);
        out.position(symtabAt).put(symbolTable).put(strtab).put(shstrtab);
        out.position(sectionsAt + (is64 ? 64 : 40));
        section(out, 1, textType, 6, CODE, 0x1000, CODE_SIZE, 0, 0);
        for (int i = 0; i < noteSections; i++) {
            section(
                    out,
                    sectionNames.indexOf(".note"),
                    7,
                    compressed ? SHF_COMPRESSED : 0,
                    0,
                    notesAt,
                    noteBytes.length,
                    0,
                    0);
        }
        section(out, sectionNames.indexOf(".stapsdt.base"), 1, 2, base, BASE, 1, 0, 0);
        section(
                out,
                sectionNames.indexOf(".symtab"),
                2,
                0,
                0,
                symtabAt,
                symbolTable.length,
                sectionCount - 2,
                is64 ? 24 : 16);
        section(out, sectionNames.indexOf(".strtab"), 3, 0, 0, strtabAt, strtab.length, 0, 0);
        section(out, sectionNames.indexOf(".shstrtab"), 3, 0, 0, shstrtabAt, shstrtab.length, 0, 0);
        return file;
    }

    /** Elf64_Chdr: type (1 for zlib), reserved, size, alignment; then the stream. */
    private byte[] deflated(byte[] bytes) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        byte[] header = new byte[24];
        over(header).putInt(1).putInt(0).putLong(bytes.length).putLong(4);
        all.writeBytes(header);
        try (DeflaterOutputStream stream = new DeflaterOutputStream(all)) {
            stream.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return all.toByteArray();
    }

    private void segment(ByteBuffer out, int flags, long offset, long address, long fileSize, long memorySize) {
        out.putInt(1);
        if (is64) {
            out.putInt(flags);
        }
        word(out, offset);
        word(out, address);
        word(out, address);
        word(out, fileSize);
        word(out, memorySize);
        if (!is64) {
            out.putInt(flags);
        }
        word(out, 0x1000);
    }

    private void section(
            ByteBuffer out,
            int name,
            int sectionType,
            long flags,
            long address,
            long offset,
            long size,
            int link,
            long entry) {
        out.putInt(name).putInt(sectionType);
        word(out, flags);
        word(out, address);
        word(out, offset);
        word(out, size);
        out.putInt(link).putInt(0);
        word(out, 1);
        word(out, entry);
    }

    private void word(ByteBuffer out, long value) {
        if (is64) {
            out.putLong(value);
        } else {
            out.putInt((int) value);
        }
    }

    private ByteBuffer over(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(order);
    }

    private static byte[] padded(byte[] bytes) {
        return java.util.Arrays.copyOf(bytes, align4(bytes.length));
    }

    private static int align4(int size) {
        return (size + 3) & ~3;
    }

    private static int align(int size) {
        return (size + 15) & ~15;
    }
}
