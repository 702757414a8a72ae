package io.bpf4j.loader.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/**
 * The C types that correspond to Java's primitive types, at any address.
 *
 * <p>Tested by {@code CodecTest} and {@code CodecTypesTest}.
 */
@SuppressWarnings("ImmutableEnumChecker") // layouts are immutable, but only by their documentation
enum Scalar implements RecordCodec.Element {
    BYTE(byte.class, ValueLayout.JAVA_BYTE, CType.NumberKind.INTEGER),
    /** One byte; everything but 0 is true. */
    BOOLEAN(boolean.class, ValueLayout.JAVA_BYTE, CType.NumberKind.BOOLEAN),
    SHORT(short.class, ValueLayout.JAVA_SHORT_UNALIGNED, CType.NumberKind.INTEGER),
    CHAR(char.class, ValueLayout.JAVA_CHAR_UNALIGNED, CType.NumberKind.UNSIGNED),
    INT(int.class, ValueLayout.JAVA_INT_UNALIGNED, CType.NumberKind.INTEGER),
    LONG(long.class, ValueLayout.JAVA_LONG_UNALIGNED, CType.NumberKind.INTEGER),
    FLOAT(float.class, ValueLayout.JAVA_FLOAT_UNALIGNED, CType.NumberKind.FLOATING_POINT),
    DOUBLE(double.class, ValueLayout.JAVA_DOUBLE_UNALIGNED, CType.NumberKind.FLOATING_POINT);

    private final Class<?> javaType;
    private final ValueLayout layout;
    private final CType.NumberKind kind;

    Scalar(Class<?> javaType, ValueLayout layout, CType.NumberKind kind) {
        this.javaType = javaType;
        this.layout = layout;
        this.kind = kind;
    }

    static Optional<Scalar> of(Class<?> javaType) {
        for (Scalar scalar : values()) {
            if (scalar.javaType == javaType) {
                return Optional.of(scalar);
            }
        }
        return Optional.empty();
    }

    /** The layout for reading and writing, in the machine's byte order. */
    ValueLayout layout() {
        return layout;
    }

    @Override
    public long size() {
        return layout.byteSize();
    }

    @Override
    public long alignment() {
        return size();
    }

    @Override
    public Optional<String> difference(CType type) {
        return type.differenceToNumber(kind, size());
    }

    /** Fills an array of the Java type. */
    void read(MemorySegment source, long offset, Object array, int length) {
        if (array instanceof boolean[] flags) {
            for (int i = 0; i < length; i++) {
                flags[i] = source.get(ValueLayout.JAVA_BYTE, offset + i) != 0;
            }
        } else {
            MemorySegment.copy(source, layout, offset, array, 0, length);
        }
    }

    /** Writes an array of the Java type. */
    void write(Object array, int length, MemorySegment target, long offset) {
        if (array instanceof boolean[] flags) {
            for (int i = 0; i < length; i++) {
                target.set(ValueLayout.JAVA_BYTE, offset + i, (byte) (flags[i] ? 1 : 0));
            }
        } else {
            MemorySegment.copy(array, 0, target, layout, offset, length);
        }
    }
}
