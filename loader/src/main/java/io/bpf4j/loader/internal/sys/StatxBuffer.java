package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Struct.U32;
import static io.bpf4j.loader.internal.sys.Struct.U64;

import io.bpf4j.elf.FileIdentity;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * {@code struct statx} (include/uapi/linux/stat.h, Linux 4.11), which has one layout on every architecture; that of the
 * older {@code struct stat} differs.
 */
final class StatxBuffer {
    static final long SIZE = 256;

    /** Queries the file descriptor itself: the path is empty. */
    static final int AT_EMPTY_PATH = 0x1000;

    static final int BASIC_STATS = 0x7ff;

    /** S_IFMT and S_IFREG of include/uapi/linux/stat.h. */
    private static final int TYPE_MASK = 0170000;

    private static final int REGULAR = 0100000;

    private static final long MODE = 28;
    private static final long INODE = 32;
    private static final long FILE_SIZE = 40;
    private static final long MODIFIED_SECONDS = 112;
    private static final long MODIFIED_NANOS = 120;
    private static final long DEVICE_MAJOR = 136;
    private static final long DEVICE_MINOR = 140;

    private StatxBuffer() {}

    static boolean isRegular(MemorySegment stat) {
        return (stat.get(ValueLayout.JAVA_SHORT, MODE) & TYPE_MASK) == REGULAR;
    }

    static FileIdentity identity(MemorySegment stat) {
        return new FileIdentity(
                device(stat.get(U32, DEVICE_MAJOR), stat.get(U32, DEVICE_MINOR)),
                stat.get(U64, INODE),
                stat.get(U64, FILE_SIZE),
                stat.get(U64, MODIFIED_SECONDS) * 1_000_000_000L + stat.get(U32, MODIFIED_NANOS));
    }

    /** As {@code gnu_dev_makedev} of glibc packs the numbers, and so {@code st_dev} of stat(2). */
    private static long device(int majorNumber, int minorNumber) {
        long major = Integer.toUnsignedLong(majorNumber);
        long minor = Integer.toUnsignedLong(minorNumber);
        return (major & 0xfffff000L) << 32 | (major & 0xfff) << 8 | (minor & 0xffffff00L) << 12 | (minor & 0xff);
    }
}
