package io.bpf4j.process;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.internal.text.FileName;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A line of {@code /proc/PID/maps}. <i>Immutable.</i>
 *
 * <p>Two things that the kernel writes can also be part of a name: {@code \012} stands for a newline, and {@code "
 * (deleted)"} at the end says that the file has no name any more. The text is ambiguous, but after opening the file a
 * caller can compare. So the text is kept as written, and {@link #names} returns all possible meanings.
 *
 * @param start first address
 * @param end address after the last
 * @param permissions {@code r-xp}
 * @param fileOffset byte offset of {@code start} in the file
 * @param device the file system's number, see {@link FileIdentity#device(long, long)}
 * @param inode 0 for anonymous memory
 * @param text the last column of the line: the file as the process sees it, {@code [heap]} and the like, or empty
 */
public record MappedRange(
        long start, long end, String permissions, long fileOffset, long device, long inode, FileName text) {
    private static final String DELETED = " (deleted)";

    MappedRange withText(FileName shared) {
        return new MappedRange(start, end, permissions, fileOffset, device, inode, shared);
    }

    public boolean executable() {
        return permissions.length() > 2 && permissions.charAt(2) == 'x';
    }

    /**
     * Whether it is a mapping of this file, by device and inode, because inode numbers of two file systems may be
     * equal. On overlay and btrfs maps has another device than stat, so there the result may be false for the right
     * file.
     */
    public boolean isOf(FileIdentity file) {
        return inode == file.inode() && device == file.device();
    }

    /** Whether an address is in it. */
    boolean contains(long address) {
        return Long.compareUnsigned(start, address) <= 0 && Long.compareUnsigned(address, end) < 0;
    }

    /** Whether it is a file, rather than anonymous memory or the kernel's {@code [vdso]}. */
    public boolean isFile() {
        return inode != 0 && text.isAbsolute();
    }

    /**
     * Whether it is a file with this name in any directory, or was before it was deleted. Does not make a text of the
     * path, of which a process may have thousands of 4,096 bytes.
     */
    public boolean isFileNamed(String name) {
        return isFile() && (text.endsWith("/" + name) || text.endsWith("/" + name + DELETED));
    }

    /** Whether the file probably has no name any more: it was deleted or replaced, or never had one (memfd). */
    public boolean deleted() {
        return bytes().endsWith(DELETED);
    }

    /** The most likely name of the file, without a check. */
    public FileName name() {
        String bytes = bytes();
        return name(deleted() ? bytes.substring(0, bytes.length() - DELETED.length()) : bytes);
    }

    /** The possible names of the file now, the likeliest first. */
    List<FileName> names() {
        List<FileName> names = new ArrayList<>();
        names.add(name(bytes()));
        if (!names.contains(text)) {
            names.add(text);
        }
        return names;
    }

    /** A character for each byte. */
    private String bytes() {
        return new String(text.bytes(), StandardCharsets.ISO_8859_1);
    }

    private static FileName name(String bytes) {
        return FileName.of(bytes.replace("\\012", "\n").getBytes(StandardCharsets.ISO_8859_1));
    }
}
