package io.bpf4j.trace.stack;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes small shared libraries: code at file offset 0x1000, linked for address 0x3000, and functions in {@code .symtab}
 * and {@code .dynsym}.
 */
final class SmallElf {
    static final long OFFSET = 0x1000;
    static final long ADDRESS = 0x3000;

    private static final int SHT_PROGBITS = 1;
    private static final int SHT_SYMTAB = 2;
    private static final int SHT_STRTAB = 3;
    private static final int SHT_NOTE = 7;
    private static final int SHT_DYNSYM = 11;

    private final List<Function> functions = new ArrayList<>();
    private byte[] buildId = {};

    private record Function(String name, long address, long size, int binding, boolean exported) {}

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Section(String name, int type, byte[] data, int link, int entrySize) {}

    /** A static function, which only the full table has. */
    SmallElf local(String name, long address, long size) {
        functions.add(new Function(name, address, size, 0, false));
        return this;
    }

    /** A function in the dynamic table only, as after stripping. */
    SmallElf exported(String name, long address, long size) {
        functions.add(new Function(name, address, size, 1, true));
        return this;
    }

    SmallElf buildId(byte... id) {
        buildId = id;
        return this;
    }

    /** The number of functions. */
    int count() {
        return functions.size();
    }

    byte[] build() {
        List<Section> sections = new ArrayList<>();
        sections.add(new Section("", 0, new byte[0], 0, 0));
        sections.add(new Section(".text", SHT_PROGBITS, new byte[0], 0, 0));
        for (boolean exported : new boolean[] {false, true}) {
            ByteArrayOutputStream names = new ByteArrayOutputStream();
            names.write(0);
            ByteBuffer table = little(24 * (functions.size() + 1));
            table.position(24);
            for (Function f : functions) {
                if (f.exported() == exported) {
                    table.putInt(names.size())
                            .put((byte) (f.binding() << 4 | 2))
                            .put((byte) 0);
                    table.putShort((short) 1).putLong(f.address()).putLong(f.size());
                    names.writeBytes(f.name().getBytes(StandardCharsets.UTF_8));
                    names.write(0);
                }
            }
            if (table.position() > 24) {
                byte[] entries = new byte[table.position()];
                table.get(0, entries);
                sections.add(new Section(
                        exported ? ".dynsym" : ".symtab",
                        exported ? SHT_DYNSYM : SHT_SYMTAB,
                        entries,
                        sections.size() + 1,
                        24));
                sections.add(new Section(exported ? ".dynstr" : ".strtab", SHT_STRTAB, names.toByteArray(), 0, 0));
            }
        }
        if (buildId.length > 0) {
            ByteBuffer note = little(16 + buildId.length);
            note.putInt(4).putInt(buildId.length).putInt(3).put("GNU\0".getBytes(StandardCharsets.UTF_8));
            note.put(buildId);
            byte[] bytes = new byte[note.capacity()];
            note.get(0, bytes);
            sections.add(new Section(".note.gnu.build-id", SHT_NOTE, bytes, 0, 0));
        }
        return write(sections);
    }

    private static byte[] write(List<Section> sections) {
        ByteArrayOutputStream names = new ByteArrayOutputStream();
        List<Integer> nameOffsets = new ArrayList<>();
        sections.add(new Section(".shstrtab", SHT_STRTAB, new byte[0], 0, 0));
        for (Section section : sections) {
            nameOffsets.add(names.size());
            names.writeBytes(section.name().getBytes(StandardCharsets.UTF_8));
            names.write(0);
        }
        sections.set(sections.size() - 1, new Section(".shstrtab", SHT_STRTAB, names.toByteArray(), 0, 0));
        int headers = 0x4000;
        for (Section section : sections) {
            headers += section.data().length + 7 & ~7;
        }
        headers = Math.max(headers, 0x8000);
        ByteBuffer file = little(headers + 64 * sections.size());
        file.put(new byte[] {0x7f, 'E', 'L', 'F', 2, 1, 1}).position(16);
        file.putShort((short) 3).putShort((short) 62).putInt(1);
        file.putLong(0).putLong(64).putLong(headers).putInt(0);
        file.putShort((short) 64).putShort((short) 56).putShort((short) 1).putShort((short) 64);
        file.putShort((short) sections.size()).putShort((short) (sections.size() - 1));
        // One segment, readable and executable.
        file.position(64);
        file.putInt(1).putInt(5).putLong(OFFSET).putLong(ADDRESS).putLong(ADDRESS);
        file.putLong(0x1000).putLong(0x1000).putLong(0x1000);
        int at = 0x4000;
        for (int i = 0; i < sections.size(); i++) {
            Section section = sections.get(i);
            file.position(at);
            file.put(section.data());
            file.position(headers + 64 * i);
            file.putInt(nameOffsets.get(i)).putInt(section.type()).putLong(0).putLong(0);
            file.putLong(section.type() == 0 ? 0 : at).putLong(section.data().length);
            file.putInt(section.link()).putInt(0).putLong(4).putLong(section.entrySize());
            at += section.data().length + 7 & ~7;
        }
        byte[] bytes = new byte[file.capacity()];
        file.get(0, bytes);
        return bytes;
    }

    private static ByteBuffer little(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }
}
