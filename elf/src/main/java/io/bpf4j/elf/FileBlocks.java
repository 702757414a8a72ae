package io.bpf4j.elf;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of an open file, read in blocks by pread(2). <i>Thread-safe.</i>
 *
 * <p>The file is not mapped: a process that may write to a file may also shorten it, and an access to a removed page
 * faults. A read just returns fewer bytes.
 *
 * <p>The last used blocks are cached, so adjacent bytes cost one call, and a second read of a cached block gives the
 * same bytes. The cache is a small part of a large file.
 *
 * <p>Tested by {@code OpenElfFileTest}.
 */
final class FileBlocks implements AutoCloseable {
    private static final int SHIFT = 15;

    /** Bytes of a block; a power of two. */
    static final int BLOCK = 1 << SHIFT;

    /** Each block also has the first bytes of the next block, so that no number of up to 8 bytes spans two blocks. */
    private static final int OVERLAP = Long.BYTES - 1;

    /** Cached blocks: 4 MiB. Each block has one slot, which it shares with other blocks. */
    private static final int SLOTS = 128;

    /** Maximum size of one read: the JDK copies through native memory of that size. */
    private static final int MAX_READ_BYTES = 1 << 18;

    private final String source;
    private final OpenedFile file;
    private final long start;
    private final long size;
    private final AtomicReferenceArray<@Nullable Block> slots = new AtomicReferenceArray<>(SLOTS);

    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Block(long number, byte[] bytes) {}

    /**
     * @param source the file's name in messages
     * @param file closed with this
     * @param start where the bytes start in the file
     * @param size number of bytes
     */
    FileBlocks(String source, OpenedFile file, long start, long size) {
        this.source = source;
        this.file = file;
        this.start = start;
        this.size = size;
    }

    long size() {
        return size;
    }

    FileOpener opener() {
        return file.opener();
    }

    /**
     * The block that an offset lies in; the byte is at {@link #indexInBlock}. The offset is known to be in the file.
     */
    byte[] block(long offset) {
        if (!file.isOpen()) {
            throw closed(null);
        }
        long number = offset >>> SHIFT;
        int slot = (int) (number % SLOTS);
        Block block = slots.get(slot);
        if (block == null || block.number != number) {
            block = new Block(number, readBlock(number << SHIFT));
            slots.set(slot, block);
        }
        return block.bytes;
    }

    static int indexInBlock(long offset) {
        return (int) (offset & (BLOCK - 1));
    }

    private byte[] readBlock(long at) {
        byte[] bytes = new byte[(int) Math.min(BLOCK + OVERLAP, size - at)];
        read(at, bytes, 0, bytes.length);
        return bytes;
    }

    /** Copies bytes that are known to be in the file into an array that has room for them. */
    void copy(long offset, byte[] target, int at, int length) {
        int index = indexInBlock(offset);
        if (index + length <= BLOCK) {
            System.arraycopy(block(offset), index, target, at, length);
        } else {
            read(offset, target, at, length);
        }
    }

    private void read(long offset, byte[] target, int at, int length) {
        int done = 0;
        while (done < length) {
            int wanted = Math.min(length - done, MAX_READ_BYTES);
            int got;
            try {
                got = file.read(target, at + done, wanted, start + offset + done);
            } catch (ClosedChannelException e) {
                throw closed(e);
            } catch (IOException e) {
                MalformedDataException unreadable =
                        new MalformedDataException(source, offset + done, "can't be read: " + e.getMessage());
                unreadable.initCause(e);
                throw unreadable;
            }
            if (got <= 0) {
                throw new MalformedDataException(
                        source, offset + done, "can no longer be read: the file was shortened");
            }
            done += got;
        }
    }

    private IllegalStateException closed(@Nullable ClosedChannelException cause) {
        return new IllegalStateException(source + " is closed", cause);
    }

    @Override
    public void close() {
        file.close();
    }
}
