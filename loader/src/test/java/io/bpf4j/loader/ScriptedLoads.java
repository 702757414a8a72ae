package io.bpf4j.loader;

import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.internal.sys.ScriptedKernel;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.objects.BpfObjects;

/** Loaders over a scripted kernel that has every feature. */
public final class ScriptedLoads {
    private ScriptedLoads() {}

    public static ObjectSpec spec(String name) {
        return ObjectSpec.parse(name, BpfObjects.bytes(name));
    }

    public static Features everything() {
        return Features.of(feature -> Support.yes("scripted"));
    }

    static BpfLoader loader(ScriptedKernel kernel, ObjectSpec spec) {
        return BpfLoader.of(spec).kernel(kernel).features(everything());
    }
}
