package io.bpf4j.test.support;

import io.bpf4j.elf.ElfFile;
import io.bpf4j.elf.Section;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;

/**
 * A copy of a 64-bit little-endian program that has more notes than it was built with, some before its own and some
 * after. The notes of all go to the end of the file, and the header of their section says so; nothing that is loaded
 * changes, so the program runs as before. <em>Confined.</em>
 */
public final class PatchedNotes {
    private static final String SECTION = ".note.stapsdt";
    private static final int SH_OFFSET = 24;
    private static final int SH_SIZE = 32;

    private final Path program;
    private final ByteArrayOutputStream before = new ByteArrayOutputStream();
    private final ByteArrayOutputStream after = new ByteArrayOutputStream();
    private boolean ownAreIn;

    private PatchedNotes(Path program) {
        this.program = program;
    }

    public static PatchedNotes of(Path program) {
        return new PatchedNotes(program);
    }

    /** The notes that the program has come here. */
    public PatchedNotes own() {
        ownAreIn = true;
        return this;
    }

    /** A note as it should be. */
    public PatchedNotes note(String provider, String name, String arguments, long address, long semaphore)
            throws IOException {
        byte[] text = (provider + "\0" + name + "\0" + arguments + "\0").getBytes(StandardCharsets.UTF_8);
        return raw(8, 24 + text.length, 3, description(address, semaphore, text));
    }

    /** The addresses of a note, and then these bytes. */
    public byte[] description(long address, long semaphore, byte[] text) throws IOException {
        return sized(24 + text.length)
                .putLong(address)
                .putLong(section(".stapsdt.base").address())
                .putLong(semaphore)
                .put(text)
                .array();
    }

    /** A note with sizes that need not be true. */
    public PatchedNotes raw(int ownerSize, int descriptionSize, int type, byte[] description) {
        ByteArrayOutputStream out = ownAreIn ? after : before;
        out.writeBytes(sized(20)
                .putInt(ownerSize)
                .putInt(descriptionSize)
                .putInt(type)
                .put("stapsdt\0".getBytes(StandardCharsets.US_ASCII))
                .array());
        out.writeBytes(Arrays.copyOf(description, (description.length + 3) & ~3));
        return this;
    }

    /** Writes the copy. */
    public Path writeTo(Path copy) throws IOException {
        byte[] file = Files.readAllBytes(program);
        Section section = section(SECTION);
        byte[] own = Arrays.copyOfRange(file, (int) section.offset(), (int) (section.offset() + section.size()));
        int end = (file.length + 15) & ~15;
        ByteArrayOutputStream notes = new ByteArrayOutputStream();
        notes.writeBytes(before.toByteArray());
        notes.writeBytes(own);
        notes.writeBytes(after.toByteArray());
        byte[] patched = Arrays.copyOf(file, end + notes.size());
        System.arraycopy(notes.toByteArray(), 0, patched, end, notes.size());
        try (ElfFile elf = ElfFile.open(program)) {
            int header = (int) elf.header().sectionHeaderOffset()
                    + section.index() * elf.header().sectionHeaderEntrySize();
            ByteBuffer out = ByteBuffer.wrap(patched).order(ByteOrder.nativeOrder());
            out.putLong(header + SH_OFFSET, end).putLong(header + SH_SIZE, notes.size());
        }
        Files.write(copy, patched);
        return Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Section section(String name) throws IOException {
        try (ElfFile elf = ElfFile.open(program)) {
            return elf.section(name).orElseThrow();
        }
    }

    private static ByteBuffer sized(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
    }
}
