package io.bpf4j.loader.binding;

import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.Global;
import java.lang.foreign.MemorySegment;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * The codec of a struct that has a view: it reads a value out of a view, and writes it into one. <i>Thread-safe.</i>
 *
 * <p>A map compares only its size with this codec; {@link ObjectLayout} compares the types of the whole class. Tested
 * by {@code StructViewTest}.
 *
 * @param <T> the value: a record
 * @param <V> the view
 */
public final class StructCodec<T, V extends StructView> implements Codec<T> {
    private final long size;
    private final StructView.Factory<V> views;
    private final Function<? super V, ? extends T> read;
    private final BiConsumer<? super V, ? super T> write;

    private StructCodec(
            long size,
            StructView.Factory<V> views,
            Function<? super V, ? extends T> read,
            BiConsumer<? super V, ? super T> write) {
        this.size = size;
        this.views = views;
        this.read = read;
        this.write = write;
    }

    /**
     * A codec.
     *
     * @param size of the struct in bytes
     * @param read makes a value of a view
     * @param write sets all bytes of a view, padding included
     */
    public static <T, V extends StructView> StructCodec<T, V> of(
            long size,
            StructView.Factory<V> views,
            Function<? super V, ? extends T> read,
            BiConsumer<? super V, ? super T> write) {
        return new StructCodec<>(size, views, read, write);
    }

    /**
     * A view of the struct at the start of a segment.
     *
     * @throws IllegalArgumentException if the segment is smaller than the struct
     */
    public V view(MemorySegment segment) {
        return views.at(segment, 0);
    }

    /**
     * A view of a global variable, in the memory that programs use.
     *
     * @throws UnsupportedOperationException if the variable is not mapped into memory, for instance before Linux 5.5
     * @throws IllegalStateException if the map of its section is closed
     */
    public V view(Global variable) {
        return view(variable.memory()
                .orElseThrow(() -> new UnsupportedOperationException("variable " + variable.name()
                        + " is not mapped into memory, so there is no view of it; read and write it as a whole")));
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public T decode(MemorySegment source, long offset) {
        return valueOf(views.at(source, offset));
    }

    T valueOf(V view) {
        return read.apply(view);
    }

    @Override
    public void encode(T value, MemorySegment target, long offset) {
        write.accept(views.at(target, offset), value);
    }
}
