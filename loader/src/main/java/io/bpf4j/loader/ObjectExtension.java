package io.bpf4j.loader;

import java.util.function.Function;

/**
 * State that another module keeps for a {@link BpfObject}, such as the spec IDs of USDT. Created on first use, closed
 * with the object.
 */
public interface ObjectExtension extends AutoCloseable {
    @Override
    void close();

    /**
     * Names an extension and creates it. <i>Immutable</i>; each kind of extension has one, in a constant.
     *
     * @param <T> the class of the extension
     * @param name for messages
     * @param factory called once per object
     */
    record Key<T extends ObjectExtension>(String name, Class<T> type, Function<BpfObject, T> factory) {}
}
