package io.bpf4j.loader;

import io.bpf4j.btf.Btf;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.Specs;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.test.objects.TestObjects;
import java.util.List;
import java.util.Optional;

/** Loaders over a scripted kernel that has every feature. */
public final class ScriptedLoads {
    private ScriptedLoads() {}

    public static ObjectSpec spec(String name) {
        return ObjectSpec.parse(name, TestObjects.bytes(name));
    }

    /** An object without programs, of the byte order of its types. */
    public static ObjectSpec spec(String name, List<MapSpec> maps, List<ExternSpec> externs, Btf types) {
        return Specs.object(name, types.order(), List.of(), List.of(), maps, externs, Optional.of(types));
    }

    public static Features everything() {
        return Features.of(feature -> new Support.Present("scripted"));
    }

    /** A program that exists already; the caller closes the descriptor. */
    public static Program program(ScriptedKernel kernel, Fd fd, String name) {
        return new Program(kernel.host(), fd, name, Optional.empty());
    }

    static BpfLoader loader(ScriptedKernel kernel, ObjectSpec spec) {
        return BpfLoader.of(spec).host(kernel.host()).features(everything());
    }
}
