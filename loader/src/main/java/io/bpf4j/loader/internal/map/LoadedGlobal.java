package io.bpf4j.loader.internal.map;

import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.CType;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.Global;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The only implementation of {@link Global}. */
public final class LoadedGlobal implements Global {
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
     * A variable of a loaded object.
     *
     * @param section the map that holds the section
     * @param memory the section's whole value in memory, if it is mapped
     * @param offset bytes from the start of the section
     * @param size bytes of the variable
     * @param type C type in the object's BTF
     */
    public LoadedGlobal(
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

    @Override
    public String name() {
        return name;
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public boolean isWritable() {
        return writable;
    }

    @Override
    public Optional<MemorySegment> memory() {
        if (section.isClosed()) {
            throw new IllegalStateException("variable " + name + ": map \"" + section.name() + "\" is closed");
        }
        return memory.map(all -> {
            MemorySegment own = all.asSlice(offset, size);
            return writable ? own : own.asReadOnly();
        });
    }

    @Override
    public byte[] bytes() {
        return read().toArray(ValueLayout.JAVA_BYTE);
    }

    @Override
    public int getInt() {
        checkSize(Integer.BYTES);
        return read().get(ValueLayout.JAVA_INT_UNALIGNED, 0);
    }

    @Override
    public long getLong() {
        checkSize(Long.BYTES);
        return read().get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
    }

    @Override
    public boolean getBoolean() {
        checkSize(1);
        return read().get(ValueLayout.JAVA_BYTE, 0) != 0;
    }

    @Override
    public <T> T get(Codec<T> codec) {
        check(codec);
        return codec.decode(read(), 0);
    }

    @Override
    public void setInt(int value) {
        set(Codec.ofInt(), value);
    }

    @Override
    public void setLong(long value) {
        set(Codec.ofLong(), value);
    }

    @Override
    public void setBoolean(boolean value) {
        set(Codec.ofBytes(1), new byte[] {(byte) (value ? 1 : 0)});
    }

    @Override
    public void set(byte[] bytes) {
        set(Codec.ofBytes(bytes.length), bytes);
    }

    @Override
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
