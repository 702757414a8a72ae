package io.bpf4j.loader.map;

import io.bpf4j.loader.internal.map.LoadedGlobal;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * A global variable of a loaded program. <i>Thread-safe.</i>
 *
 * <p>The variables of a section are one value of an array map. If the kernel can map that value into memory (Linux
 * 5.5), reads and writes go directly to the memory that the program uses: without a system call, and atomic only as far
 * as the machine makes aligned accesses of up to 8 bytes atomic. Otherwise a write reads the section, changes it and
 * writes it back. If the program changes other variables of the section at that moment, their changes may be lost.
 *
 * <p>Variables in {@code .rodata} can be read, but only set before the load.
 */
public sealed interface Global permits LoadedGlobal {
    String name();

    /** Bytes of the variable. */
    long size();

    /** Whether the variable can be changed after the load. */
    boolean isWritable();

    /**
     * The variable's live memory, if it is mapped; valid until the map of its section is closed.
     *
     * @throws IllegalStateException if that map is closed; all methods that read or write the variable throw it, too
     */
    Optional<MemorySegment> memory();

    /** A copy of the bytes, in the machine's order. */
    byte[] bytes();

    int getInt();

    long getLong();

    /** The value of a variable of C type {@code bool}, one byte. */
    boolean getBoolean();

    /**
     * The value.
     *
     * @throws IllegalArgumentException if the codec is for another size, or for another C type than in the object's BTF
     */
    <T> T get(Codec<T> codec);

    void setInt(int value);

    void setLong(long value);

    /** Sets a variable of C type {@code bool}, one byte. */
    void setBoolean(boolean value);

    /**
     * Sets all bytes.
     *
     * @throws IllegalArgumentException if their number is not {@link #size()}
     */
    void set(byte[] bytes);

    /**
     * Sets the variable.
     *
     * @throws IllegalStateException if its section can't be changed after the load
     * @throws IllegalArgumentException if the codec is for another size, or for another C type than in the object's BTF
     */
    <T> void set(Codec<T> codec, T value);
}
