package io.bpf4j.loader.link;

/**
 * A perf event that is already open, by its file descriptor; {@code SEC("perf_event")}, or the program type of the
 * probe or tracepoint that the event is for. The descriptor still belongs to the caller, and may be closed
 * afterwards.
 */
public sealed interface OpenPerfEvent extends AttachTarget {
    static OpenPerfEvent of(int descriptor) {
        return new OpenPerfEventData(descriptor, 0);
    }

    int descriptor();

    long cookie();

    default OpenPerfEvent withCookie(long cookie) {
        return new OpenPerfEventData(descriptor(), cookie);
    }
}

record OpenPerfEventData(int descriptor, long cookie) implements OpenPerfEvent {
    @Override
    public String description() {
        return "perf event of descriptor " + descriptor;
    }
}
