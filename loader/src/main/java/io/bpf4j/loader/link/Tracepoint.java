package io.bpf4j.loader.link;

/**
 * A static tracepoint of the kernel, such as {@code sched}, {@code sched_switch}, through a perf event; {@code
 * SEC("tp")}.
 */
public sealed interface Tracepoint extends AttachTarget {
    static Tracepoint of(String category, String name) {
        return new TracepointData(category, name, 0);
    }

    String category();

    String name();

    long cookie();

    default Tracepoint withCookie(long cookie) {
        return new TracepointData(category(), name(), cookie);
    }
}

record TracepointData(String category, String name, long cookie) implements Tracepoint {
    @Override
    public String description() {
        return "tracepoint " + category + ":" + name;
    }
}
