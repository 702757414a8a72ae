package io.bpf4j.sys;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Bytes of a page of memory: 4096 on most machines, 16 or 64 KiB on some arm64 machines.
 *
 * <p>From the auxiliary vector that the kernel gives each process, in /proc/self/auxv: pairs of words, the type {@code
 * AT_PAGESZ} being 6 (include/uapi/linux/auxvec.h). The file of a process with file capabilities belongs to root, and
 * the process can't read it. The page size is then the block size of procfs (simple_statfs of fs/libfs.c).
 *
 * <p>Tested by {@code LinuxFilesTest}.
 */
final class PageSize {
    private static final long AT_PAGESZ = 6;
    private static final long DEFAULT = 4096;

    private PageSize() {}

    /** Reads the auxiliary vector of a process. */
    static long read(Path auxv) {
        try {
            ByteBuffer words = ByteBuffer.wrap(Files.readAllBytes(auxv)).order(ByteOrder.nativeOrder());
            while (words.remaining() >= 16) {
                long type = words.getLong();
                long value = words.getLong();
                if (type == AT_PAGESZ && Long.bitCount(value) == 1) {
                    return value;
                }
            }
            return DEFAULT;
        } catch (IOException e) {
            return blockSize(auxv.resolveSibling("status"));
        }
    }

    private static long blockSize(Path file) {
        try {
            long size = Files.getFileStore(file).getBlockSize();
            return size >= DEFAULT && Long.bitCount(size) == 1 ? size : DEFAULT;
        } catch (IOException e) {
            return DEFAULT;
        }
    }
}
