package io.bpf4j.loader.link;

/**
 * The target that the program was loaded for: {@code SEC("tp_btf")}, {@code "fentry"}, {@code "fexit"}, {@code
 * "fmod_ret"} (Linux 5.5, fmod_ret 5.7), {@code "lsm"} (Linux 5.7), {@code "freplace"} (Linux 5.6). Cookies need
 * Linux 5.19, those of tp_btf 6.10.
 */
public sealed interface Tracing extends AttachTarget {
    static Tracing asLoaded() {
        return new TracingData(0);
    }

    long cookie();

    default Tracing withCookie(long cookie) {
        return new TracingData(cookie);
    }
}

record TracingData(long cookie) implements Tracing {
    @Override
    public String description() {
        return "the function it was loaded for";
    }
}
