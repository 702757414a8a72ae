package io.bpf4j.usdt.internal.process;

import io.bpf4j.elf.FileIdentity;

/**
 * A line of {@code /proc/PID/maps}. <b>Immutable</b>.
 *
 * @param start first address
 * @param end address after the last
 * @param permissions {@code r-xp}
 * @param fileOffset byte offset of {@code start} in the file
 * @param device {@code major:minor}, hexadecimal
 * @param inode 0 for anonymous memory
 * @param path the file as the process sees it, {@code [heap]} and the like, or empty
 * @param deleted whether the file has no name any more: it was deleted or replaced, or never had one (memfd)
 */
public record Mapping(
        long start,
        long end,
        String permissions,
        long fileOffset,
        String device,
        long inode,
        String path,
        boolean deleted) {

    public boolean executable() {
        return permissions.length() > 2 && permissions.charAt(2) == 'x';
    }

    /**
     * Whether it is of this file, by device and inode: two file systems number their files alike. On overlay and btrfs maps
     * has another device than stat, so that there this is false for the right file, too.
     */
    public boolean isOf(FileIdentity file) {
        return inode == file.inode() && device.equals(ProcessFiles.deviceName(file.device()));
    }

    /** Whether it is a file, rather than anonymous memory or the kernel's {@code [vdso]}. */
    public boolean isFile() {
        return inode != 0 && path.startsWith("/");
    }
}
