package io.bpf4j.loader.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

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
public final class Global {
    private final String name;
    private final BpfMap section;
    private final Optional<MemorySegment> memory;
    private final boolean writable;
    private final long offset;
    private final long size;
    private final Optional<CType> type;
    /** The last codec that was compared with the type and matches. */
    private volatile @Nullable Codec<?> lastMatching;

    /**
     * For the loader.
     *
     * @param section the map that holds the section
     * @param memory the section's whole value in memory, if it is mapped
     * @param offset bytes from the start of the section
     * @param size bytes of the variable
     * @param type C type in the object's BTF
     */
    public Global(
            String name,
            BpfMap section,
            Optional<MemorySegment> memory,
            boolean writable,
            long offset,
            long size,
            Optional<CType> type) {
        // An arena has no value, only memory.
        long available = memory.map(MemorySegment::byteSize).orElseGet(() -> (long) section.valueSize());
        if (offset < 0 || size < 0 || offset > available - size) {
            throw new IllegalArgumentException("variable " + name + " of " + size + " bytes at " + offset
                    + " is outside its section of " + available + " bytes");
        }
        this.name = name;
        this.section = section;
        this.memory = memory;
        this.writable = writable;
        this.offset = offset;
        this.size = size;
        this.type = type;
    }

    public String name() {
        return name;
    }

    /** Bytes of the variable. */
    public long size() {
        return size;
    }

    /** Whether the variable can be changed after the load. */
    public boolean isWritable() {
        return writable;
    }

    /**
     * The variable's live memory, if it is mapped; valid until the map of its section is closed.
     *
     * @throws IllegalStateException if that map is closed; all methods that read or write the variable throw it, too
     */
    public Optional<MemorySegment> memory() {
        if (section.isClosed()) {
            throw new IllegalStateException("variable " + name + ": map \"" + section.name() + "\" is closed");
        }
        return memory.map(all -> {
            MemorySegment own = all.asSlice(offset, size);
            return writable ? own : own.asReadOnly();
        });
    }

    /** A copy of the bytes, in the machine's order. */
    public byte[] bytes() {
        return read().toArray(ValueLayout.JAVA_BYTE);
    }

    public int getInt() {
        checkSize(Integer.BYTES);
        return read().get(ValueLayout.JAVA_INT_UNALIGNED, 0);
    }

    public long getLong() {
        checkSize(Long.BYTES);
        return read().get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
    }

    /** The value of a variable of C type {@code bool}, one byte. */
    public boolean getBoolean() {
        checkSize(1);
        return read().get(ValueLayout.JAVA_BYTE, 0) != 0;
    }

    /**
     * The value.
     *
     * @throws IllegalArgumentException if the codec is for another size, or for another C type than in the object's BTF
     */
    public <T> T get(Codec<T> codec) {
        check(codec);
        return codec.decode(read(), 0);
    }

    public void setInt(int value) {
        set(Codec.ofInt(), value);
    }

    public void setLong(long value) {
        set(Codec.ofLong(), value);
    }

    /** Sets a variable of C type {@code bool}, one byte. */
    public void setBoolean(boolean value) {
        set(Codec.ofBytes(1), new byte[] {(byte) (value ? 1 : 0)});
    }

    /**
     * Sets all bytes.
     *
     * @throws IllegalArgumentException if their number is not {@link #size()}
     */
    public void set(byte[] bytes) {
        set(Codec.ofBytes(bytes.length), bytes);
    }

    /**
     * Sets the variable.
     *
     * @throws IllegalStateException if its section can't be changed after the load
     * @throws IllegalArgumentException if the codec is for another size, or for another C type than in the object's BTF
     */
    public <T> void set(Codec<T> codec, T value) {
        check(codec);
        if (!writable) {
            throw new IllegalStateException(
                    "variable " + name + " is read-only after the load; set it with BpfLoader.global before the load");
        }
        Optional<MemorySegment> mapped = memory();
        if (mapped.isPresent()) {
            codec.encode(value, mapped.get(), 0);
            return;
        }
        // Other variables of the section have other Globals, which share the section's map: so it is the lock.
        synchronized (section) {
            byte[] all = sectionValue();
            codec.encode(value, MemorySegment.ofArray(all), offset);
            section.update(new byte[section.keySize()], all);
        }
    }

    private MemorySegment read() {
        return memory().orElseGet(() -> MemorySegment.ofArray(sectionValue()).asSlice(offset, size));
    }

    private byte[] sectionValue() {
        return section.lookup(new byte[section.keySize()])
                .orElseThrow(() -> new IllegalStateException("section " + section.name() + " has no value"));
    }

    private void check(Codec<?> codec) {
        if (codec.equals(lastMatching)) {
            return;
        }
        checkSize(codec.size());
        type.flatMap(codec::difference).ifPresent(difference -> {
            throw new IllegalArgumentException(
                    "variable " + name + ": the codec does not match its type: " + difference);
        });
        lastMatching = codec;
    }

    private void checkSize(long expected) {
        if (expected != size) {
            throw new IllegalArgumentException(
                    "variable " + name + " has " + size + " bytes, but was accessed as a variable of " + expected);
        }
    }

    @Override
    public String toString() {
        return "global " + name + " (" + size + " bytes in " + section.name() + ")";
    }
}
