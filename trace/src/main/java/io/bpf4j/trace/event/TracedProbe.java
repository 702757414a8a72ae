package io.bpf4j.trace.event;

import io.bpf4j.trace.catalog.ArgumentType;
import io.bpf4j.trace.catalog.ProbeArgument;
import io.bpf4j.trace.catalog.ProbeSignature;
import io.bpf4j.trace.expression.ValueType;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The probe that an event's cookie identifies. <i>Immutable.</i>
 *
 * @param path the file that holds the probe
 * @param provider the probe's provider
 * @param name its name
 * @param types the type of each argument's 64 bits, to which the value at the site is extended
 * @param signature the probe's signature in the catalog; empty if it has none
 */
public record TracedProbe(
        String path, String provider, String name, List<ValueType.Numeric> types, Optional<ProbeSignature> signature) {
    public TracedProbe {
        types = List.copyOf(types);
    }

    /** A probe that the catalog does not know. */
    public TracedProbe(String path, String provider, String name, List<ValueType.Numeric> types) {
        this(path, provider, name, types, Optional.empty());
    }

    /** {@code provider:name}. */
    public String id() {
        return provider + ":" + name;
    }

    /** The type of the bits of argument {@code n}; a signed number if the probe doesn't declare it. */
    public ValueType.Numeric type(int n) {
        return n < types.size() ? types.get(n) : ValueType.Int.S64;
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
