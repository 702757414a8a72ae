package io.bpf4j.loader;

import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.spec.ObjectSpec;

/** Loads into another kernel than the running one. In this package for the loader's setter. */
public final class Loaders {
    private Loaders() {}

    public static BpfLoader of(ObjectSpec spec, Kernel kernel) {
        return BpfLoader.of(spec).kernel(kernel);
    }
}
