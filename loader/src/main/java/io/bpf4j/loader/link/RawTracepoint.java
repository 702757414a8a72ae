package io.bpf4j.loader.link;

/**
 * A tracepoint by its name alone, with its arguments as the kernel passes them (Linux 4.17; cookies 6.10); {@code
 * SEC("raw_tp")}.
 */
public sealed interface RawTracepoint extends AttachTarget {
    static RawTracepoint of(String name) {
        return new RawTracepointData(name, 0);
    }

    String name();

    long cookie();

    default RawTracepoint withCookie(long cookie) {
        return new RawTracepointData(name(), cookie);
    }
}

record RawTracepointData(String name, long cookie) implements RawTracepoint {
    @Override
    public String description() {
        return "raw tracepoint " + name;
    }
}
