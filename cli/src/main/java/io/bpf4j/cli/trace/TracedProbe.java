package io.bpf4j.cli.trace;

import java.util.List;

/**
 * The probe that an event's cookie identifies. <i>Immutable.</i>
 *
 * @param path the file that holds the probe
 * @param provider the probe's provider
 * @param name its name
 * @param kinds the interpretation of each argument's bits
 */
public record TracedProbe(String path, String provider, String name, List<NumberKind> kinds) {
    public TracedProbe {
        kinds = List.copyOf(kinds);
    }

    public String id() {
        return provider + ":" + name;
    }

    /** The kind of argument {@code n}; a signed number if the probe doesn't declare it. */
    public NumberKind kind(int n) {
        return n < kinds.size() ? kinds.get(n) : NumberKind.SIGNED;
    }
}
