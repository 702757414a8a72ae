package io.bpf4j.loader.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Codecs of single values.
 *
 * <p>Tested by {@code CodecTest} and {@code CodecTypesTest}.
 */
final class Codecs {
    static final Codec<Integer> INT = new Codec<>() {
        @Override
        public Optional<String> difference(CType type) {
            return type.differenceToNumber(CType.NumberKind.INTEGER, size());
        }

        @Override
        public long size() {
            return Integer.BYTES;
        }

        @Override
        public Integer decode(MemorySegment source, long offset) {
            return source.get(ValueLayout.JAVA_INT_UNALIGNED, offset);
        }

        @Override
        public void encode(Integer value, MemorySegment target, long offset) {
            target.set(ValueLayout.JAVA_INT_UNALIGNED, offset, value);
        }
    };

    static final Codec<Long> LONG = new Codec<>() {
        @Override
        public Optional<String> difference(CType type) {
            return type.differenceToNumber(CType.NumberKind.INTEGER, size());
        }

        @Override
        public long size() {
            return Long.BYTES;
        }

        @Override
        public Long decode(MemorySegment source, long offset) {
            return source.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
        }

        @Override
        public void encode(Long value, MemorySegment target, long offset) {
            target.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
        }
    };

    private Codecs() {}

    record Bytes(long size) implements Codec<byte[]> {
        Bytes {
            if (size < 0 || size > Integer.MAX_VALUE) {
                throw new IllegalArgumentException("a value of " + size + " bytes");
            }
        }

        @Override
        public byte[] decode(MemorySegment source, long offset) {
            byte[] bytes = new byte[(int) size];
            MemorySegment.copy(source, ValueLayout.JAVA_BYTE, offset, bytes, 0, bytes.length);
            return bytes;
        }

        @Override
        public void encode(byte[] value, MemorySegment target, long offset) {
            if (value.length != size) {
                throw new IllegalArgumentException(value.length + " bytes for a value of " + size);
            }
            MemorySegment.copy(value, 0, target, ValueLayout.JAVA_BYTE, offset, value.length);
        }
    }

    record Text(long size) implements Codec<String> {
        Text {
            if (size < 1 || size > Integer.MAX_VALUE) {
                throw new IllegalArgumentException("text in " + size + " bytes");
            }
        }

        @Override
        public Optional<String> difference(CType type) {
            return type.differenceToText(size);
        }

        @Override
        public String decode(MemorySegment source, long offset) {
            int length = 0;
            while (length < size && source.get(ValueLayout.JAVA_BYTE, offset + length) != 0) {
                length++;
            }
            byte[] bytes = new byte[length];
            MemorySegment.copy(source, ValueLayout.JAVA_BYTE, offset, bytes, 0, length);
            return new String(bytes, StandardCharsets.UTF_8);
        }

        @Override
        public void encode(String value, MemorySegment target, long offset) {
            byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
            if (bytes.length >= size) {
                throw new IllegalArgumentException(
                        "text of " + bytes.length + " bytes and its NUL in " + size + " bytes");
            }
            MemorySegment room = target.asSlice(offset, size);
            room.fill((byte) 0);
            MemorySegment.copy(bytes, 0, room, ValueLayout.JAVA_BYTE, 0, bytes.length);
        }
    }
}
