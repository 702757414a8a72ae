package io.bpf4j.loader.map;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.BinaryOperator;

/**
 * A map with a value for each CPU, in Java values. A view: the {@link BpfMap} still belongs to its owner, who must
 * close it. <i>Thread-safe.</i>
 *
 * <p>Each element has a value for each possible CPU, in the order of their numbers; the values of CPUs that do not
 * exist are zero.
 *
 * @param <K> Java type of a key
 * @param <V> Java type of a value
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
     * @throws IllegalArgumentException if a codec is for another size or C type, or the map is not per CPU
     */
    public static <K, V> PerCpuMap<K, V> of(BpfMap map, Codec<K> keys, Codec<V> values) {
        if (map.type().isPresent() && !map.type().get().isPerCpu()) {
            throw new IllegalArgumentException(
                    "map \"" + map.name() + "\" has one value for all CPUs; use TypedMap for it");
        }
        TypedMap.checkKeys(map, keys);
        TypedMap.checkValues(map, values);
        return new PerCpuMap<>(map, keys, values);
    }

    /** The map of this view. */
    public BpfMap map() {
        return map;
    }

    /** The number of values of each element. */
    public int cpus() {
        return cpus;
    }

    /** The values of a key, one for each possible CPU; empty if the map has no such element. */
    public Optional<List<V>> get(K key) {
        return map.lookup(TypedMap.encode(keys, key)).map(bytes -> split(MemorySegment.ofArray(bytes)));
    }

    /**
     * Creates the element or replaces its values.
     *
     * @param perCpu one for each possible CPU
     * @throws IllegalArgumentException if the list has another size
     */
    public void put(K key, List<V> perCpu) {
        byte[] bytes = new byte[stride * cpus];
        join(perCpu, MemorySegment.ofArray(bytes));
        map.update(TypedMap.encode(keys, key), bytes);
    }

    private void join(List<V> perCpu, MemorySegment target) {
        if (perCpu.size() != cpus) {
            throw new IllegalArgumentException(perCpu.size() + " values for " + cpus + " CPUs");
        }
        for (int cpu = 0; cpu < cpus; cpu++) {
            values.encode(perCpu.get(cpu), target, (long) cpu * stride);
        }
    }

    /** Creates elements or replaces their values, many in one system call, as {@link BpfMap#updateAll}. */
    public void putAll(Map<? extends K, ? extends List<V>> elements) {
        long each = (long) stride * cpus;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment keyBytes = TypedMap.encodeAll(keys, elements.keySet(), arena);
            MemorySegment valueBytes = arena.allocate(each * elements.size(), 8);
            long offset = 0;
            for (List<V> perCpu : elements.values()) {
                join(perCpu, valueBytes.asSlice(offset, each));
                offset += each;
            }
            map.updateAll(keyBytes, valueBytes, elements.size());
        }
    }

    /** The values of a key combined: {@code counters.reduce(key, Long::sum)}. */
    public Optional<V> reduce(K key, BinaryOperator<V> operator) {
        return get(key).flatMap(perCpu -> perCpu.stream().reduce(operator));
    }

    /**
     * Deletes the element.
     *
     * @return whether it existed
     */
    public boolean remove(K key) {
        return map.delete(TypedMap.encode(keys, key));
    }

    /** Passes each element once; concurrent changes are as for {@link BpfMap#forEach}. */
    public void forEach(BiConsumer<? super K, ? super List<V>> action) {
        map.forEach((key, value) -> action.accept(keys.decode(key, 0), split(value)));
    }

    /**
     * Deletes the elements and passes each to the action, as {@link BpfMap#drain}.
     *
     * @return the number of elements
     */
    public long drain(BiConsumer<? super K, ? super List<V>> action) {
        return map.drain((key, value) -> action.accept(keys.decode(key, 0), split(value)));
    }

    private List<V> split(MemorySegment segment) {
        List<V> split = new ArrayList<>(cpus);
        for (int cpu = 0; cpu < cpus; cpu++) {
            split.add(values.decode(segment, (long) cpu * stride));
        }
        return split;
    }
}
