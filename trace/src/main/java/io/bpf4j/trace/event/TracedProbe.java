package io.bpf4j.trace.event;

import io.bpf4j.trace.catalog.ArgumentType;
import io.bpf4j.trace.catalog.ProbeArgument;
import io.bpf4j.trace.catalog.ProbeSignature;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The probe that an event's cookie identifies. <i>Immutable.</i>
 *
 * @param path the file that holds the probe
 * @param provider the probe's provider
 * @param name its name
 * @param kinds the interpretation of each argument's bits
 * @param signature the probe's signature in the catalog; empty if it has none
 */
public record TracedProbe(
        String path, String provider, String name, List<NumberKind> kinds, Optional<ProbeSignature> signature) {
    public TracedProbe {
        kinds = List.copyOf(kinds);
    }

    /** A probe that the catalog does not know. */
    public TracedProbe(String path, String provider, String name, List<NumberKind> kinds) {
        this(path, provider, name, kinds, Optional.empty());
    }

    /** {@code provider:name}. */
    public String id() {
        return provider + ":" + name;
    }

    /** The kind of argument {@code n}; a signed number if the probe doesn't declare it. */
    public NumberKind kind(int n) {
        return n < kinds.size() ? kinds.get(n) : NumberKind.SIGNED;
    }

    /** The name of argument {@code n}: the catalog's, or {@code argN}. */
    public String argument(int n) {
        return known(n).map(ProbeArgument::name).orElse("arg" + n);
    }

    /** Whether argument {@code n} is the length of the text to which argument {@code pointer} points. */
    public boolean isLengthOf(int n, int pointer) {
        return known(pointer).map(ProbeArgument::type).orElse(null) instanceof ArgumentType.Text text
                && text.length().equals(OptionalInt.of(n));
    }

    /** Argument {@code n} in the catalog; empty if the catalog does not have it. */
    public Optional<ProbeArgument> known(int n) {
        return signature.flatMap(probe ->
                n < probe.arguments().size() ? Optional.of(probe.arguments().get(n)) : Optional.empty());
    }
}
