package io.bpf4j.loader.internal.load;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A value that is made when it is first asked for. <i>Confined.</i> */
final class Remembered<T> implements Supplier<T> {
    private final Supplier<? extends T> maker;
    private @Nullable T value;

    Remembered(Supplier<? extends T> maker) {
        this.maker = maker;
    }

    @Override
    public T get() {
        T known = value;
        if (known == null) {
            known = maker.get();
            value = known;
        }
        return known;
    }
}
