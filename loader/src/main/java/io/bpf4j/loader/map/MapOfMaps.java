package io.bpf4j.loader.map;

import io.bpf4j.sys.internal.call.MapTraits;
import java.util.OptionalInt;
import java.util.function.BiConsumer;

/**
 * An array or a hash of maps (Linux 4.12). All inner maps must match the inner map definition: type, key and value
 * size, flags, and the number of elements unless they are arrays with {@code BPF_F_INNER_MAP} (Linux 5.10) or hash
 * maps. A view: the {@link BpfMap} still belongs to its owner, who must close it. <i>Thread-safe.</i>
 *
 * <p>When {@link #put} returns, no running program sees the previous inner map any more: the kernel waits for programs
 * that may use it (synchronize_rcu), which takes milliseconds.
 *
 * <p>Tested by {@code MapViewsTest} and {@code MapKindsOnKernelTest}.
 *
 * @param <K> Java type of a key
 */
public final class MapOfMaps<K> {
    private final BpfMap map;
    private final Codec<K> keys;

    private MapOfMaps(BpfMap map, Codec<K> keys) {
        this.map = map;
        this.keys = keys;
    }

    /**
     * A view of the map.
     *
     * @throws IllegalArgumentException if it is not a map of maps, or the codec is for another size or C type
     */
    public static <K> MapOfMaps<K> of(BpfMap map, Codec<K> keys) {
        if (!MapTraits.of(map.typeNumber()).has(MapTraits.Trait.HOLDS_MAPS)) {
            throw new IllegalArgumentException("map \"" + map.name() + "\" is not a map of maps");
        }
        TypedMap.checkKeys(map, keys);
        return new MapOfMaps<>(map, keys);
    }

    /**
     * Puts a map in. The inner map exists as long as it is in this map, even if its {@link BpfMap} is closed.
     *
     * @throws io.bpf4j.sys.SyscallException EINVAL if the inner map does not match the definition
     */
    public void put(K key, BpfMap inner) {
        map.update(TypedMap.encode(keys, key), inner, UpdateMode.ANY);
    }

    /**
     * The kernel's id of the map under a key, by which {@code Maps.byId} opens it; that needs CAP_SYS_ADMIN, and finds no
     * map if it was removed meanwhile. Empty if the key has none.
     */
    public OptionalInt id(K key) {
        return map.lookup(TypedMap.encode(keys, key))
                .map(bytes -> OptionalInt.of(TypedMap.decode(Codec.ofInt(), bytes)))
                .orElse(OptionalInt.empty());
    }

    /**
     * Removes a map.
     *
     * @return whether it existed
     */
    public boolean remove(K key) {
        return map.delete(TypedMap.encode(keys, key));
    }

    /** Passes the id of each inner map once. Empty slots of an array are left out. */
    public void forEachId(BiConsumer<? super K, ? super Integer> action) {
        map.forEach((key, value) -> {
            int id = Codec.ofInt().decode(value, 0);
            if (id != 0) {
                action.accept(keys.decode(key, 0), id);
            }
        });
    }
}
