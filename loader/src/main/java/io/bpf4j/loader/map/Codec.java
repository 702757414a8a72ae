package io.bpf4j.loader.map;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * How a Java value and the bytes of a C type become each other. <i>Thread-safe</i>, as far as bpf4j's own go.
 *
 * <p>Bytes are in the machine's order, as BPF programs write them. Offsets need not be aligned.
 *
 * @param <T> the Java type
 */
public interface Codec<T> {
    /** Bytes of the C type. */
    long size();

    /**
     * Reads {@link #size()} bytes.
     *
     * @throws IndexOutOfBoundsException if they are not there
     */
    T decode(MemorySegment source, long offset);

    /**
     * Writes {@link #size()} bytes.
     *
     * @throws IndexOutOfBoundsException if there is no room
     * @throws IllegalArgumentException if the value does not fit the C type
     */
    void encode(T value, MemorySegment target, long offset);

    /**
     * What is different between the C type that this codec is for and that of an object; empty if values are read and
     * written right. Asked once, when a typed view of a map or a variable is made, and never for a value. A codec that
     * doesn't say is compared by its size alone.
     */
    default Optional<String> difference(CType type) {
        return type.differenceInSize(size());
    }

    /** {@code __u32} or {@code int}: 4 bytes. */
    static Codec<Integer> ofInt() {
        return Codecs.INT;
    }

    /** {@code __u64} or {@code long}: 8 bytes. */
    static Codec<Long> ofLong() {
        return Codecs.LONG;
    }

    /** Bytes as they are, a fixed number. */
    static Codec<byte[]> ofBytes(int size) {
        return new Codecs.Bytes(size);
    }

    /** {@code char[size]} with UTF-8 text up to the first NUL; text that is too long is refused, the NUL included. */
    static Codec<String> ofString(int size) {
        return new Codecs.Text(size);
    }

    /**
     * A C struct whose fields are the components of a record, in order, with C's alignment and padding: {@code byte,
     * short, int, long, float, double, char} (as {@code __u16}), {@code boolean} (1 byte), records (nested structs),
     * and with {@link Length} {@code String} and arrays of the numbers. A record in a named module must be in a package
     * that is open to {@code io.bpf4j.loader}.
     *
     * <p>A typed view compares it with the struct, where the object has BTF: each component has to be where the field of
     * its name is, of the same size, an integer for an integer, {@code char} and {@code boolean} for what is never
     * negative. {@code durationNs} has the name of {@code duration_ns}; {@link CName} says another one. {@code byte[]} may
     * stand for any field, and a component of any name for the bit-fields in its bytes. Records of ring buffers, of which
     * no map says the type, are compared by {@code BpfObject.codec}.
     *
     * @throws IllegalArgumentException if a component is of another type, or its length is not given
     */
    static <R extends Record> Codec<R> ofRecord(Class<R> type) {
        return RecordCodec.of(type);
    }
}
