package io.bpf4j.cli.trace;

import java.util.List;

/**
 * What an event's cookie stands for. <i>Immutable.</i>
 *
 * @param path the file that holds the probe
 * @param provider the probe's provider
 * @param name its name
 * @param kinds how each argument's bits are to be read
 */
public record TracedProbe(String path, String provider, String name, List<NumberKind> kinds) {
    public TracedProbe {
        kinds = List.copyOf(kinds);
    }

    public String id() {
        return provider + ":" + name;
    }

    /** How argument {@code n} is to be read; a signed number if the probe doesn't say. */
    public NumberKind kind(int n) {
        return n < kinds.size() ? kinds.get(n) : NumberKind.SIGNED;
    }
}
