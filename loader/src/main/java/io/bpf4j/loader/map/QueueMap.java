package io.bpf4j.loader.map;

import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A queue or a stack in Java values (Linux 4.20): pop takes the oldest value of a {@link MapType#QUEUE} and the newest
 * of a {@link MapType#STACK}. A view: the {@link BpfMap} still belongs to its owner, who must close it.
 * <i>Thread-safe.</i>
 *
 * <p>Tested by {@code MapViewsTest} and {@code MapKindsOnKernelTest}.
 *
 * @param <V> Java type of a value
 */
public final class QueueMap<V> {
    private static final byte[] NO_KEY = new byte[0];

    private final BpfMap map;
    private final Codec<V> values;

    private QueueMap(BpfMap map, Codec<V> values) {
        this.map = map;
        this.values = values;
    }

    /**
     * A view of the map.
     *
     * @throws IllegalArgumentException if it is neither a queue nor a stack, or the codec is for another size or C type
     */
    public static <V> QueueMap<V> of(BpfMap map, Codec<V> values) {
        if (map.typeNumber() != MapType.QUEUE.number() && map.typeNumber() != MapType.STACK.number()) {
            throw new IllegalArgumentException("map \"" + map.name() + "\" is neither a queue nor a stack");
        }
        TypedMap.checkValues(map, values);
        return new QueueMap<>(map, values);
    }

    /**
     * Adds a value.
     *
     * @return false if the map is full
     */
    public boolean push(V value) {
        try {
            return map.update(NO_KEY, TypedMap.encode(values, value), UpdateMode.ANY);
        } catch (SyscallException e) {
            if (e.errno() == Errno.E2BIG) {
                return false;
            }
            throw e;
        }
    }

    /** Adds a value, and drops the oldest if the map is full. */
    public void pushOver(V value) {
        // BPF_EXIST, which for other map types means that the element must exist.
        map.update(NO_KEY, TypedMap.encode(values, value), UpdateMode.EXISTING_ONLY);
    }

    /** The value that {@link #pop} would take, without removing it. */
    public Optional<V> peek() {
        return map.lookup(NO_KEY).map(bytes -> TypedMap.decode(values, bytes));
    }

    /** Removes and returns a value; empty if the map is empty. */
    public Optional<V> pop() {
        return map.lookupAndDelete(NO_KEY).map(bytes -> TypedMap.decode(values, bytes));
    }

    /**
     * Removes the values, at most as many as fit into the map.
     *
     * @return the number of values
     */
    public long drain(Consumer<? super V> action) {
        return map.drain((_, value) -> action.accept(values.decode(value, 0)));
    }
}
