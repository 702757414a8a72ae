package io.bpf4j.elf;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Writes numbers of both classes and byte orders, to build test images. */
final class ByteWriter {
    private final ElfClass elfClass;
    private final boolean little;
    private byte[] bytes = new byte[256];
    private int size;

    ByteWriter(ElfClass elfClass, ByteOrder order) {
        this.elfClass = elfClass;
        this.little = order == ByteOrder.LITTLE_ENDIAN;
    }

    int size() {
        return size;
    }

    ByteWriter u8(long value) {
        return number(value, 1);
    }

    ByteWriter u16(long value) {
        return number(value, 2);
    }

    ByteWriter u32(long value) {
        return number(value, 4);
    }

    ByteWriter u64(long value) {
        return number(value, 8);
    }

    /** An address, offset or size: 4 or 8 bytes. */
    ByteWriter word(long value) {
        return number(value, elfClass.addressSize());
    }

    ByteWriter string(String text) {
        return raw(text.getBytes(StandardCharsets.UTF_8)).u8(0);
    }

    ByteWriter raw(byte[] data) {
        room(data.length);
        System.arraycopy(data, 0, bytes, size, data.length);
        size += data.length;
        return this;
    }

    ByteWriter align(int multiple) {
        while (size % multiple != 0) {
            u8(0);
        }
        return this;
    }

    byte[] toByteArray() {
        return Arrays.copyOf(bytes, size);
    }

    private ByteWriter number(long value, int width) {
        room(width);
        for (int i = 0; i < width; i++) {
            bytes[size + (little ? i : width - 1 - i)] = (byte) (value >>> (8 * i));
        }
        size += width;
        return this;
    }

    private void room(int more) {
        if (bytes.length - size < more) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + more));
        }
    }
}
