package io.bpf4j.loader.map;

import io.bpf4j.loader.kernel.MapType;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BiConsumer;

/**
 * An array or a hash of maps (Linux 4.12). All inner maps must have the shape of the one that this was made for: type, key
 * and value size, flags, and the number of elements unless they are arrays with {@code BPF_F_INNER_MAP} (Linux 5.10) or
 * hash maps. A view: the {@link BpfMap} stays its owner's to close. <i>Thread-safe.</i>
 *
 * <p>When {@link #put} returns, programs that run no more see the inner map that was there before: the kernel waits for
 * those that may (synchronize_rcu), which takes milliseconds.
 *
 * @param <K> what a key is in Java
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
     * @throws IllegalArgumentException if it holds no maps, or the codec is for another size or C type
     */
    public static <K> MapOfMaps<K> of(BpfMap map, Codec<K> keys) {
        if (map.typeNumber() != MapType.ARRAY_OF_MAPS.number() && map.typeNumber() != MapType.HASH_OF_MAPS.number()) {
            throw new IllegalArgumentException("map \"" + map.name() + "\" does not hold maps");
        }
        TypedMap.checkKeys(map, keys);
        return new MapOfMaps<>(map, keys);
    }

    /** The map behind this view. */
    public BpfMap map() {
        return map;
    }

    /**
     * Puts a map in, which then lives as long as it is in there, also if it is closed here.
     *
     * @throws io.bpf4j.loader.error.SyscallException EINVAL if its shape differs
     */
    public void put(K key, BpfMap inner) {
        map.update(TypedMap.encode(keys, key), inner, UpdateMode.ANY);
    }

    /** The kernel's id of the map under a key; empty if there is none. */
    public OptionalInt id(K key) {
        return map.lookup(TypedMap.encode(keys, key))
                .map(bytes -> OptionalInt.of(TypedMap.decode(Codec.ofInt(), bytes)))
                .orElse(OptionalInt.empty());
    }

    /**
     * Opens the map under a key; needs CAP_SYS_ADMIN.
     *
     * @return the caller's to close; empty if there is none
     */
    public Optional<BpfMap> open(K key) {
        return map.openInner(TypedMap.encode(keys, key));
    }

    /**
     * Takes a map out.
     *
     * @return whether there was one
     */
    public boolean remove(K key) {
        return map.delete(TypedMap.encode(keys, key));
    }

    /** Gives the ids of the inner maps, each once. Empty slots of an array are left out. */
    public void forEachId(BiConsumer<? super K, ? super Integer> action) {
        map.forEach((key, value) -> {
            int id = Codec.ofInt().decode(value, 0);
            if (id != 0) {
                action.accept(keys.decode(key, 0), id);
            }
        });
    }
}
