package io.bpf4j.loader.map;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Converts between Java values and the bytes of a C type. bpf4j's own codecs are <i>thread-safe</i>.
 *
 * <p>Values are in the machine's byte order, as BPF programs write them. Offsets need not be aligned.
 *
 * @param <T> the Java type
 */
public interface Codec<T> {
    /**
     * The name of the C field that a record component corresponds to, if it differs from the component's name: {@code
     * @Name("tgid") int process}. Not needed if only case and underscores differ: {@code durationNs} matches {@code
     * duration_ns}.
     */
    @Documented
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.RECORD_COMPONENT)
    @interface Name {
        /** The name in C. */
        String value();
    }

    /**
     * The number of elements of the C array that a record component corresponds to: {@code @Length(16) String comm}.
     */
    @Documented
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.RECORD_COMPONENT)
    @interface Length {
        /** Elements of the array; bytes for a {@code String}, its NUL included if it has one. */
        int value();
    }

    /** Size of the C type in bytes. */
    long size();

    /**
     * Reads {@link #size()} bytes.
     *
     * @throws IndexOutOfBoundsException if the segment has fewer bytes
     */
    T decode(MemorySegment source, long offset);

    /**
     * Writes {@link #size()} bytes.
     *
     * @throws IndexOutOfBoundsException if the segment has fewer bytes
     * @throws IllegalArgumentException if the value does not fit the C type
     */
    void encode(T value, MemorySegment target, long offset);

    /**
     * The difference between this codec's C type and the C type in an object; empty if values are read and written
     * correctly. bpf4j calls this once for each typed view of a map or variable, not for each value. Unless overridden,
     * only the size is compared.
     */
    default Optional<String> difference(CType type) {
        return type.differenceInSize(size());
    }

    /** {@code __s8} or {@code __u8}: 1 byte, from -128. {@link #ofUnsignedByte} reads 0xff as 255. */
    static Codec<Byte> ofByte() {
        return Codecs.BYTE;
    }

    /** {@code __u8}: 1 byte, from 0 to 255. */
    static Codec<Integer> ofUnsignedByte() {
        return Codecs.UNSIGNED_BYTE;
    }

    /** {@code bool}: 1 byte, 0 or 1; every other byte is read as true. */
    static Codec<Boolean> ofBoolean() {
        return Codecs.BOOLEAN;
    }

    /** {@code __s16} or {@code __u16}: 2 bytes, from -32,768. */
    static Codec<Short> ofShort() {
        return Codecs.SHORT;
    }

    /** {@code __u16}, such as a port: 2 bytes, from 0 to 65,535. */
    static Codec<Integer> ofUnsignedShort() {
        return Codecs.UNSIGNED_SHORT;
    }

    /** {@code __u32} or {@code int}: 4 bytes, from -2^31. */
    static Codec<Integer> ofInt() {
        return Codecs.INT;
    }

    /** {@code __u32}: 4 bytes, from 0 to 2^32 - 1. */
    static Codec<Long> ofUnsignedInt() {
        return Codecs.UNSIGNED_INT;
    }

    /** {@code __u64} or {@code long}: 8 bytes, from -2^63. {@code Long.toUnsignedString} prints an unsigned one. */
    static Codec<Long> ofLong() {
        return Codecs.LONG;
    }

    /** {@code float}: 4 bytes. */
    static Codec<Float> ofFloat() {
        return Codecs.FLOAT;
    }

    /** {@code double}: 8 bytes. */
    static Codec<Double> ofDouble() {
        return Codecs.DOUBLE;
    }

    /** A fixed number of bytes, unchanged. */
    static Codec<byte[]> ofBytes(int size) {
        return new Codecs.Bytes(size);
    }

    /**
     * {@code char[size]} with UTF-8 text up to the first NUL; text that fills the array has none. Text that was read is
     * written with the same bytes, so it can be looked up as a key: a byte that is not UTF-8 is read as the lone
     * surrogate U+DC00 + byte, and written as that byte. Text that is too long, or contains a NUL or another lone
     * surrogate, is refused.
     *
     * <p>Bytes after the first NUL are not read, and written as 0. A map whose programs leave other bytes there has
     * keys that this codec can't look up; use {@link #ofBytes} for them.
     */
    static Codec<String> ofString(int size) {
        return new Codecs.Text(size);
    }

    /**
     * A C struct whose fields are the components of a record, in order, with C's alignment and padding: {@code byte,
     * short, int, long, float, double, char} (as {@code __u16}), {@code boolean} (1 byte), records (nested structs),
     * and with {@link Length} {@code String} and arrays of any of these but {@code String}. An enum of C is an integer.
     * A record in a named module must be in a package that is open to {@code io.bpf4j.loader}.
     *
     * <p>If the object has BTF, a typed view compares the record with the struct: each component must have the offset
     * and size of the field of its name. An integer matches an integer, and so does {@code boolean}; {@code char}
     * matches unsigned types. {@code durationNs} matches {@code duration_ns}; {@link Name} sets another name. {@code
     * byte[]} matches any field, and a component of any name may cover the bit-fields in its bytes. For records of ring
     * buffers, whose map has no value type, use {@code BpfObject.codec}, which compares.
     *
     * @throws IllegalArgumentException if a component has an unsupported type, or lacks a length
     * @throws UnsupportedOperationException in a native image
     */
    static <R extends Record> Codec<R> ofRecord(Class<R> type) {
        return RecordCodec.of(type);
    }
}
