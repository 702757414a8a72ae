package io.bpf4j.elf;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The identity of a file, independent of its name: equal identities mean the same file with the same contents.
 * <i>Immutable.</i>
 *
 * <p>A path is not an identity: an upgrade renames another file over it. The inode alone is not an identity either,
 * because a file may be written in place, and an inode number is reused after its file was deleted. The time of the
 * last status change (ctime) is left out: it also changes when a name is added or removed, so a program that is being
 * replaced would seem changed although it is not.
 *
 * @param device {@code st_dev}, packed as {@link #device(long, long)} does
 * @param inode {@code st_ino}
 * @param size in bytes
 * @param modifiedNanos {@code st_mtim}, nanoseconds since 1970
 */
public record FileIdentity(long device, long inode, long size, long modifiedNanos) {

    /**
     * The identity of the file that a path leads to now, following links.
     *
     * @throws IOException if the file does not exist, or the file system has no inodes
     */
    public static FileIdentity of(Path path) throws IOException {
        Map<String, Object> found;
        try {
            found = Files.readAttributes(path, "unix:dev,ino,size,lastModifiedTime");
        } catch (UnsupportedOperationException e) {
            FileSystemException none = new FileSystemException(
                    path.toString(),
                    null,
                    "has no inode, and no process can map it: it is on a file system of type "
                            + path.getFileSystem().provider().getScheme());
            none.initCause(e);
            throw none;
        }
        if (found.get("dev") instanceof Long device
                && found.get("ino") instanceof Long inode
                && found.get("size") instanceof Long size
                && found.get("lastModifiedTime") instanceof FileTime modified) {
            return new FileIdentity(device, inode, size, modified.to(TimeUnit.NANOSECONDS));
        }
        throw new IOException("the inode of " + path + " can't be read");
    }

    /**
     * Packs the major and minor number of a device, 32 bits each, into one number, as glibc's {@code gnu_dev_makedev}
     * does; {@code st_dev} of stat(2) has this form. The kernel reports the two numbers separately in {@code statx} and
     * in {@code /proc/PID/maps}.
     */
    public static long device(long major, long minor) {
        return (major & 0xfffff000L) << 32 | (major & 0xfff) << 8 | (minor & 0xffffff00L) << 12 | (minor & 0xff);
    }
}
