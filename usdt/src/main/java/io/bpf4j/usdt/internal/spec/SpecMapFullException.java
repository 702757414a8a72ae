package io.bpf4j.usdt.internal.spec;

import java.io.Serial;

/** All spec IDs of a spec map are in use; libbpf returns E2BIG. */
public final class SpecMapFullException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    SpecMapFullException(int capacity, int others, int own) {
        super("map '" + SpecLayout.MAP + "' is full (E2BIG): of its " + capacity + " entries, other attachments use "
                + others + ", and this one needs more than the remaining " + own
                + ". Enlarge it before loading, by BpfLoader.map(\"" + SpecLayout.MAP
                + "\", …), or compile the object with a larger BPF_USDT_MAX_SPEC_CNT");
    }
}
