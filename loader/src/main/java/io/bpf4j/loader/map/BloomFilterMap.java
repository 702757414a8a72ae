package io.bpf4j.loader.map;

import io.bpf4j.loader.kernel.MapType;
import java.lang.foreign.MemorySegment;

/**
 * A bloom filter in Java values (Linux 5.16): knows for sure what was never added. Nothing can be taken out of it. A view:
 * the {@link BpfMap} stays its owner's to close. <i>Thread-safe.</i>
 *
 * <p>The map's {@code max_entries} is the number of values that it is laid out for, and the low 4 bits of
 * {@code map_extra} the number of hash functions, 5 unless given; more values than that make false answers more frequent.
 *
 * @param <V> what a value is in Java
 */
public final class BloomFilterMap<V> {
    private static final byte[] NO_KEY = new byte[0];

    private final BpfMap map;
    private final Codec<V> values;

    private BloomFilterMap(BpfMap map, Codec<V> values) {
        this.map = map;
        this.values = values;
    }

    /**
     * A view of the map.
     *
     * @throws IllegalArgumentException if it is no bloom filter, or the codec is for another size or C type
     */
    public static <V> BloomFilterMap<V> of(BpfMap map, Codec<V> values) {
        if (map.typeNumber() != MapType.BLOOM_FILTER.number()) {
            throw new IllegalArgumentException("map \"" + map.name() + "\" is not a bloom filter");
        }
        TypedMap.checkValues(map, values);
        return new BloomFilterMap<>(map, values);
    }

    /** The map behind this view. */
    public BpfMap map() {
        return map;
    }

    public void add(V value) {
        map.update(NO_KEY, TypedMap.encode(values, value));
    }

    /** Whether the value may have been added; false is certain. */
    public boolean mightContain(V value) {
        // The value is the question here: the kernel reads it, and answers by finding or not finding it.
        return map.lookup(MemorySegment.NULL, MemorySegment.ofArray(TypedMap.encode(values, value)));
    }
}
