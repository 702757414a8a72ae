package io.bpf4j.loader.map;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * A map with a value for each CPU, in Java values. A view: the {@link BpfMap} stays its owner's to close.
 * <i>Thread-safe.</i>
 *
 * <p>There is a value for each possible CPU, in the order of their numbers; CPUs that are not there have zeros.
 *
 * @param <K> what a key is in Java
 * @param <V> what a value is in Java
 */
public final class PerCpuMap<K, V> {
    private final BpfMap map;
    private final Codec<K> keys;
    private final Codec<V> values;
    private final int stride;
    private final int cpus;

    private PerCpuMap(BpfMap map, Codec<K> keys, Codec<V> values) {
        this.map = map;
        this.keys = keys;
        this.values = values;
        this.stride = (map.valueSize() + 7) / 8 * 8;
        this.cpus = (int) (map.valueBytes() / stride);
    }

    /**
     * A view of the map.
     *
     * @throws IllegalArgumentException if sizes differ, or the map has one value for all CPUs
     */
    public static <K, V> PerCpuMap<K, V> of(BpfMap map, Codec<K> keys, Codec<V> values) {
        if (map.type().isPresent() && !map.type().get().isPerCpu()) {
            throw new IllegalArgumentException(
                    "map \"" + map.name() + "\" has one value for all CPUs; use TypedMap for it");
        }
        TypedMap.checkSize(map, "key", map.keySize(), keys.size());
        TypedMap.checkSize(map, "value", map.valueSize(), values.size());
        return new PerCpuMap<>(map, keys, values);
    }

    /** The map behind this view. */
    public BpfMap map() {
        return map;
    }

    /** How many values each element has. */
    public int cpus() {
        return cpus;
    }

    /** The values of a key, one for each possible CPU; empty if the map has no such element. */
    public Optional<List<V>> get(K key) {
        return map.lookup(TypedMap.encode(keys, key)).map(this::split);
    }

    /**
     * Makes the element or replaces its values.
     *
     * @param perCpu one for each possible CPU
     * @throws IllegalArgumentException if there are more or fewer
     */
    public void put(K key, List<V> perCpu) {
        if (perCpu.size() != cpus) {
            throw new IllegalArgumentException(perCpu.size() + " values for " + cpus + " CPUs");
        }
        byte[] bytes = new byte[stride * cpus];
        MemorySegment segment = MemorySegment.ofArray(bytes);
        for (int cpu = 0; cpu < cpus; cpu++) {
            values.encode(perCpu.get(cpu), segment, (long) cpu * stride);
        }
        map.update(TypedMap.encode(keys, key), bytes);
    }

    /**
     * Takes the element away.
     *
     * @return whether there was one
     */
    public boolean remove(K key) {
        return map.delete(TypedMap.encode(keys, key));
    }

    /** Gives each element once; what {@link BpfMap#keys()} says about changes meanwhile holds here. */
    public void forEach(BiConsumer<? super K, ? super List<V>> action) {
        for (byte[] key : map.keys()) {
            Optional<byte[]> value = map.lookup(key);
            value.ifPresent(bytes -> action.accept(TypedMap.decode(keys, key), split(bytes)));
        }
    }

    private List<V> split(byte[] bytes) {
        MemorySegment segment = MemorySegment.ofArray(bytes);
        List<V> split = new ArrayList<>(cpus);
        for (int cpu = 0; cpu < cpus; cpu++) {
            split.add(values.decode(segment, (long) cpu * stride));
        }
        return split;
    }
}
