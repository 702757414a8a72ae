package io.bpf4j.loader.map;

import io.bpf4j.elf.internal.text.CString;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.LongFunction;

/**
 * Codecs of single values.
 *
 * <p>Tested by {@code CodecTest} and {@code CodecTypesTest}.
 */
final class Codecs {
    static final Codec<Integer> INT = new Plain<>(Scalar.INT) {
        @Override
        public Integer decode(MemorySegment source, long offset) {
            return source.get(ValueLayout.JAVA_INT_UNALIGNED, offset);
        }

        @Override
        public void encode(Integer value, MemorySegment target, long offset) {
            target.set(ValueLayout.JAVA_INT_UNALIGNED, offset, value);
        }
    };

    static final Codec<Long> LONG = new Plain<>(Scalar.LONG) {
        @Override
        public Long decode(MemorySegment source, long offset) {
            return source.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
        }

        @Override
        public void encode(Long value, MemorySegment target, long offset) {
            target.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
        }
    };

    static final Codec<Float> FLOAT = new Plain<>(Scalar.FLOAT) {
        @Override
        public Float decode(MemorySegment source, long offset) {
            return source.get(ValueLayout.JAVA_FLOAT_UNALIGNED, offset);
        }

        @Override
        public void encode(Float value, MemorySegment target, long offset) {
            target.set(ValueLayout.JAVA_FLOAT_UNALIGNED, offset, value);
        }
    };

    static final Codec<Double> DOUBLE = new Plain<>(Scalar.DOUBLE) {
        @Override
        public Double decode(MemorySegment source, long offset) {
            return source.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, offset);
        }

        @Override
        public void encode(Double value, MemorySegment target, long offset) {
            target.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, offset, value);
        }
    };

    static final Codec<Byte> BYTE =
            new Small<>(Scalar.BYTE, CType.NumberKind.INTEGER, Byte.MIN_VALUE, value -> (byte) value);

    static final Codec<Integer> UNSIGNED_BYTE =
            new Small<>(Scalar.BYTE, CType.NumberKind.UNSIGNED, 0, value -> (int) value);

    static final Codec<Short> SHORT =
            new Small<>(Scalar.SHORT, CType.NumberKind.INTEGER, Short.MIN_VALUE, value -> (short) value);

    static final Codec<Integer> UNSIGNED_SHORT =
            new Small<>(Scalar.SHORT, CType.NumberKind.UNSIGNED, 0, value -> (int) value);

    static final Codec<Long> UNSIGNED_INT = new Small<>(Scalar.INT, CType.NumberKind.UNSIGNED, 0, value -> value);

    static final Codec<Boolean> BOOLEAN = new Plain<>(Scalar.BOOLEAN) {
        @Override
        public Boolean decode(MemorySegment source, long offset) {
            return source.get(ValueLayout.JAVA_BYTE, offset) != 0;
        }

        @Override
        public void encode(Boolean value, MemorySegment target, long offset) {
            target.set(ValueLayout.JAVA_BYTE, offset, (byte) (value ? 1 : 0));
        }
    };

    private Codecs() {}

    /** A value of a primitive type. */
    private abstract static class Plain<T> implements Codec<T> {
        private final Scalar scalar;

        Plain(Scalar scalar) {
            this.scalar = scalar;
        }

        @Override
        public Optional<String> difference(CType type) {
            return scalar.difference(type);
        }

        @Override
        public long size() {
            return scalar.size();
        }
    }

    /**
     * An integer of up to 4 bytes, as a Java type that can represent all its values.
     *
     * @param min its minimum value: 0 if it is unsigned
     */
    private record Small<T extends Number>(Scalar scalar, CType.NumberKind kind, long min, LongFunction<T> java)
            implements Codec<T> {
        @Override
        public Optional<String> difference(CType type) {
            return type.differenceToNumber(kind, size());
        }

        @Override
        public long size() {
            return scalar.size();
        }

        private long mask() {
            return (1L << (8 * size())) - 1;
        }

        @Override
        public T decode(MemorySegment source, long offset) {
            long value = switch (scalar) {
                case BYTE -> source.get(ValueLayout.JAVA_BYTE, offset);
                case SHORT -> source.get(ValueLayout.JAVA_SHORT_UNALIGNED, offset);
                default -> source.get(ValueLayout.JAVA_INT_UNALIGNED, offset);
            };
            return java.apply(min == 0 ? value & mask() : value);
        }

        @Override
        public void encode(T number, MemorySegment target, long offset) {
            long value = number.longValue();
            if (value < min || value > min + mask()) {
                throw new IllegalArgumentException(value + " does not fit in " + size()
                        + (size() == 1 ? " byte: " : " bytes: ") + "the range is " + min + " to " + (min + mask()));
            }
            switch (scalar) {
                case BYTE -> target.set(ValueLayout.JAVA_BYTE, offset, (byte) value);
                case SHORT -> target.set(ValueLayout.JAVA_SHORT_UNALIGNED, offset, (short) value);
                default -> target.set(ValueLayout.JAVA_INT_UNALIGNED, offset, (int) value);
            }
        }
    }

    record Bytes(long size) implements Codec<byte[]> {
        Bytes {
            if (size < 0 || size > Integer.MAX_VALUE) {
                throw new IllegalArgumentException("a value can't have " + size + " bytes");
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
                throw new IllegalArgumentException(
                        "a value of " + value.length + " bytes, but the codec needs " + size + " bytes");
            }
            MemorySegment.copy(value, 0, target, ValueLayout.JAVA_BYTE, offset, value.length);
        }
    }

    /**
     * Text up to the first NUL, or to the end. Text that was read is written with the same bytes, because a key that
     * was read must be found again: a byte that is not UTF-8 is read as one of 128 lone surrogates, which no text in
     * UTF-8 contains, and an array may be full.
     */
    record Text(long size) implements Codec<String> {
        Text {
            if (size < 1 || size > Integer.MAX_VALUE) {
                throw new IllegalArgumentException("text can't be stored in " + size + " bytes");
            }
        }

        @Override
        public Optional<String> difference(CType type) {
            return type.differenceToText(size);
        }

        @Override
        public String decode(MemorySegment source, long offset) {
            byte[] bytes = CString.bytes(source.asSlice(offset, size));
            return CString.exact(bytes);
        }

        @Override
        public void encode(String value, MemorySegment target, long offset) {
            byte[] bytes = bytes(value);
            if (bytes.length > size) {
                throw new IllegalArgumentException(
                        "text of " + bytes.length + " bytes does not fit in " + size + " bytes");
            }
            MemorySegment field = target.asSlice(offset, size);
            field.fill((byte) 0);
            MemorySegment.copy(bytes, 0, field, ValueLayout.JAVA_BYTE, 0, bytes.length);
        }

        private static byte[] bytes(String value) {
            int nul = value.indexOf('\0');
            if (nul >= 0) {
                throw new IllegalArgumentException("the text has a NUL at index " + nul + ", which would end it in C");
            }
            try {
                ByteBuffer whole = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(value));
                byte[] bytes = new byte[whole.remaining()];
                whole.get(bytes);
                return bytes;
            } catch (CharacterCodingException e) {
                return encodeWithRawBytes(value);
            }
        }

        /** Text with lone surrogates: those that {@link #decode} returns stand for bytes, UTF-8 can't encode others. */
        private static byte[] encodeWithRawBytes(String value) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            int index = 0;
            while (index < value.length()) {
                int codePoint = value.codePointAt(index);
                if (codePoint >= CString.RAW_BYTE_BASE + 0x80 && codePoint <= CString.RAW_BYTE_BASE + 0xff) {
                    bytes.write(codePoint - CString.RAW_BYTE_BASE);
                } else if (codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE) {
                    throw new IllegalArgumentException("the text has an unpaired surrogate at index " + index
                            + String.format(" (U+%04X)", codePoint) + ", which UTF-8 can't encode");
                } else {
                    bytes.writeBytes(Character.toString(codePoint).getBytes(StandardCharsets.UTF_8));
                }
                index += Character.charCount(codePoint);
            }
            return bytes.toByteArray();
        }
    }
}
