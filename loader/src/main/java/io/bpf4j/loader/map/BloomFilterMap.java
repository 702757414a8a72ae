package io.bpf4j.loader.map;

import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.MemorySegment;

/**
 * A bloom filter in Java values (Linux 5.16): reports reliably that a value was never added. Values can't be removed. A
 * view: the {@link BpfMap} still belongs to its owner, who must close it. <i>Thread-safe.</i>
 *
 * <p>The map's {@code max_entries} is the number of values that it is designed for; more values make false positives
 * more frequent. The low 4 bits of {@code map_extra} are the number of hash functions, 5 by default.
 *
 * @param <V> Java type of a value
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
     * @throws IllegalArgumentException if it is not a bloom filter, or the codec is for another size or C type
     */
    public static <V> BloomFilterMap<V> of(BpfMap map, Codec<V> values) {
        if (map.typeNumber() != MapType.BLOOM_FILTER.number()) {
            throw new IllegalArgumentException("map \"" + map.name() + "\" is not a bloom filter");
        }
        TypedMap.checkValues(map, values);
        return new BloomFilterMap<>(map, values);
    }

    public void add(V value) {
        map.update(NO_KEY, TypedMap.encode(values, value));
    }

    /** Whether the value may have been added; false means certainly not. */
    public boolean mightContain(V value) {
        // The value is the input here: the kernel reads it and reports whether it is found.
        return map.lookup(MemorySegment.NULL, MemorySegment.ofArray(TypedMap.encode(values, value)));
    }
}
