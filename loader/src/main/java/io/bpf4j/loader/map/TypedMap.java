package io.bpf4j.loader.map;

import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A map in Java values. A view: the {@link BpfMap} still belongs to its owner, who must close it. <i>Thread-safe.</i>
 *
 * <pre>{@code
 * TypedMap<Integer, Counters> counters =
 *         TypedMap.of(obj.map("counters"), Codec.ofInt(), Codec.ofRecord(Counters.class));
 * counters.forEach((pid, value) -> ...);
 * }</pre>
 *
 * <p>The key of an LPM trie is a record of two fields: the prefix length in bits, an int, and the data, such as {@code
 * @Length(4) byte[]} for IPv4 addresses, the most significant byte first.
 *
 * <p>Tested by {@code KernelMapTest} and {@code TypedViewsOnKernelTest}.
 *
 * @param <K> Java type of a key
 * @param <V> Java type of a value
 */
public final class TypedMap<K, V> implements Iterable<Map.Entry<K, V>> {
    private final BpfMap map;
    private final Codec<K> keys;
    private final Codec<V> values;

    /** {@link BpfMap#F_LOCK} or 0. */
    private final long flags;

    private TypedMap(BpfMap map, Codec<K> keys, Codec<V> values, long flags) {
        this.map = map;
        this.keys = keys;
        this.values = values;
        this.flags = flags;
    }

    /**
     * A view of the map.
     *
     * @throws IllegalArgumentException if a codec is for another size, or for another C type than the object declares
     *     ({@link Codec#difference}); or the map is per CPU: use {@link #perCpu}
     */
    public static <K, V> TypedMap<K, V> of(BpfMap map, Codec<K> keys, Codec<V> values) {
        if (map.type().map(MapType::isPerCpu).orElse(map.valueBytes() != map.valueSize())) {
            throw new IllegalArgumentException(
                    "map \"" + map.name() + "\" has a value for each CPU; use TypedMap.perCpu for it");
        }
        checkKeys(map, keys);
        checkValues(map, values);
        return new TypedMap<>(map, keys, values, 0);
    }

    /**
     * A view that reads and writes each value while the kernel holds the value's {@code struct bpf_spin_lock}: see
     * {@link BpfMap#F_LOCK} (Linux 5.1). In a record the lock is an {@code int}, which reads as 0 and is not written.
     * Each element is read and written by a system call of its own.
     *
     * @throws IllegalArgumentException as {@link #of}
     * @throws io.bpf4j.sys.SyscallException EINVAL if the values have no lock, or before Linux 5.1
     */
    public static <K, V> TypedMap<K, V> locked(BpfMap map, Codec<K> keys, Codec<V> values) {
        of(map, keys, values);
        TypedMap<K, V> locked = new TypedMap<>(map, keys, values, BpfMap.F_LOCK);
        // The kernel checks the flag before it looks for the key (map_lookup_elem in kernel/bpf/syscall.c).
        Optional<V> _ = locked.read(new byte[map.keySize()]);
        return locked;
    }

    /**
     * A view of a map with a value for each CPU, as a list: one for each possible CPU, in the order of their numbers.
     * The values of CPUs that do not exist are zero. {@code get(key).orElseThrow().stream().reduce(Long::sum)} combines
     * them.
     *
     * @throws IllegalArgumentException if a codec is for another size or C type, or the map is not per CPU
     */
    public static <K, V> TypedMap<K, List<V>> perCpu(BpfMap map, Codec<K> keys, Codec<V> values) {
        if (map.type().isPresent() && !map.type().get().isPerCpu()) {
            throw new IllegalArgumentException(
                    "map \"" + map.name() + "\" has one value for all CPUs; use TypedMap.of for it");
        }
        checkKeys(map, keys);
        checkValues(map, values);
        return new TypedMap<>(map, keys, PerCpuCodec.of(map, values), 0);
    }

    static void checkKeys(BpfMap map, Codec<?> keys) {
        check(map, "key", map.keySize(), map.keyType(), keys);
    }

    static void checkValues(BpfMap map, Codec<?> values) {
        check(map, "value", map.valueSize(), map.valueType(), values);
    }

    private static void check(BpfMap map, String part, long size, Optional<CType> type, Codec<?> codec) {
        if (size != codec.size()) {
            throw new IllegalArgumentException("map \"" + map.name() + "\" has a " + part + " of " + size
                    + " bytes" + type.map(known -> ", " + known).orElse("") + ", but the codec is for "
                    + codec.size() + (codec instanceof RecordCodec<?> ? ", " + codec : ""));
        }
        type.flatMap(codec::difference).ifPresent(difference -> {
            throw new IllegalArgumentException(
                    "map \"" + map.name() + "\": the codec does not match its " + part + "s: " + difference);
        });
    }

    /** The value of a key; empty if the map has no such element. */
    public Optional<V> get(K key) {
        return read(encode(keys, key));
    }

    private Optional<V> read(byte[] key) {
        byte[] value = new byte[(int) values.size()];
        return map.lookup(MemorySegment.ofArray(key), MemorySegment.ofArray(value), flags)
                ? Optional.of(decode(values, value))
                : Optional.empty();
    }

    /** Creates the element or replaces its value. */
    public void put(K key, V value) {
        put(key, value, UpdateMode.ANY);
    }

    /**
     * Creates the element or replaces its value, if the mode allows it.
     *
     * @return false if the mode did not allow it
     */
    public boolean put(K key, V value, UpdateMode mode) {
        return map.update(
                MemorySegment.ofArray(encode(keys, key)),
                MemorySegment.ofArray(encode(values, value)),
                mode.flag() | flags);
    }

    /**
     * Deletes the element.
     *
     * @return whether it existed
     */
    public boolean remove(K key) {
        return map.delete(encode(keys, key));
    }

    /** Deletes the element and returns its value, in one step; hash maps need Linux 5.14. */
    public Optional<V> take(K key) {
        return take(encode(keys, key));
    }

    private Optional<V> take(byte[] key) {
        byte[] value = new byte[(int) values.size()];
        return map.lookupAndDelete(MemorySegment.ofArray(key), MemorySegment.ofArray(value), flags)
                ? Optional.of(decode(values, value))
                : Optional.empty();
    }

    /** Passes each element once; concurrent changes are as for {@link BpfMap#forEach}. */
    public void forEach(BiConsumer<? super K, ? super V> action) {
        if (flags != 0) {
            forEach(element -> action.accept(element.getKey(), element.getValue()));
            return;
        }
        map.forEach((key, value) -> action.accept(keys.decode(key, 0), values.decode(value, 0)));
    }

    /**
     * The elements, fetched one by one while iterating: for a part of a large map. An element that is deleted before it
     * is fetched is left out; otherwise concurrent changes are as for {@link BpfMap#keys}. The entries are copies.
     * {@link #forEach(BiConsumer)} reads a whole map with fewer system calls.
     */
    @Override
    public Iterator<Map.Entry<K, V>> iterator() {
        return stream().iterator();
    }

    /** The elements as {@link #iterator} fetches them. */
    public Stream<Map.Entry<K, V>> stream() {
        return StreamSupport.stream(map.keys().spliterator(), false)
                .flatMap(key -> read(key).map(value -> Map.entry(decode(keys, key), value)).stream());
    }

    /**
     * A walk over the elements in parts, from the first: with as few system calls as {@link #forEach(BiConsumer)}, and
     * between other work, as {@link #stream} allows it. It holds nothing that must be closed.
     *
     * {@snippet lang = "java":
     * TypedMap.Cursor<Flow, Long> cursor = flows.cursor();
     * while (cursor.next(1000, (flow, bytes) -> report(flow, bytes))) {
     *     serveOtherRequests();
     * }
     * }
     */
    public Cursor<K, V> cursor() {
        return new Cursor<>(this);
    }

    /**
     * A {@link MapCursor} in Java values. <i>Confined</i> to one thread at a time.
     *
     * @param <K> Java type of a key
     * @param <V> Java type of a value
     */
    public static final class Cursor<K, V> {
        private final TypedMap<K, V> map;
        private final MapCursor cursor;

        private Cursor(TypedMap<K, V> map) {
            this.map = map;
            this.cursor = map.map.cursor(map.flags);
        }

        /**
         * Passes on the elements that follow, about {@code max}, as {@link MapCursor#next} does.
         *
         * @return whether more elements may follow; false once and for all at the end
         * @throws IllegalArgumentException if {@code max} is not positive
         * @throws IllegalStateException if the map is closed
         */
        public boolean next(int max, BiConsumer<? super K, ? super V> action) {
            return cursor.next(
                    max, (key, value) -> action.accept(map.keys.decode(key, 0), map.values.decode(value, 0)));
        }
    }

    /** All elements, in the kernel's order; concurrent changes are as for {@link BpfMap#forEach}. */
    public Map<K, V> toMap() {
        Map<K, V> all = new LinkedHashMap<>();
        forEach(all::put);
        return all;
    }

    /**
     * Deletes the elements and passes each to the action, as {@link BpfMap#drain}.
     *
     * @return the number of elements
     */
    public long drain(BiConsumer<? super K, ? super V> action) {
        if (flags != 0) {
            long count = 0;
            for (byte[] key : map.keys()) {
                Optional<V> value = take(key);
                if (value.isPresent()) {
                    count++;
                    action.accept(decode(keys, key), value.get());
                }
            }
            return count;
        }
        return map.drain((key, value) -> action.accept(keys.decode(key, 0), values.decode(value, 0)));
    }

    /** Creates elements or replaces their values, many in one system call, as {@link BpfMap#updateAll}. */
    public void putAll(Map<? extends K, ? extends V> elements) {
        if (flags != 0) {
            elements.forEach(this::put);
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment keyBytes = arena.allocate(keys.size() * elements.size(), 8);
            MemorySegment valueBytes = arena.allocate(values.size() * elements.size(), 8);
            int i = 0;
            for (Map.Entry<? extends K, ? extends V> element : elements.entrySet()) {
                keys.encode(element.getKey(), keyBytes, i * keys.size());
                values.encode(element.getValue(), valueBytes, i * values.size());
                i++;
            }
            map.updateAll(keyBytes, valueBytes, i);
        }
    }

    /**
     * Deletes elements, many in one system call, as {@link BpfMap#deleteAll}.
     *
     * @return the number of deleted elements
     */
    public int removeAll(Collection<? extends K> all) {
        try (Arena arena = Arena.ofConfined()) {
            return map.deleteAll(encodeAll(keys, all, arena), all.size());
        }
    }

    static <T> MemorySegment encodeAll(Codec<T> codec, Collection<? extends T> all, Arena arena) {
        MemorySegment bytes = arena.allocate(codec.size() * all.size(), 8);
        long offset = 0;
        for (T each : all) {
            codec.encode(each, bytes, offset);
            offset += codec.size();
        }
        return bytes;
    }

    static <T> byte[] encode(Codec<T> codec, T value) {
        byte[] bytes = new byte[(int) codec.size()];
        codec.encode(value, MemorySegment.ofArray(bytes), 0);
        return bytes;
    }

    static <T> T decode(Codec<T> codec, byte[] bytes) {
        return codec.decode(MemorySegment.ofArray(bytes), 0);
    }
}
