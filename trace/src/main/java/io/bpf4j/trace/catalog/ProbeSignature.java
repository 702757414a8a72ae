package io.bpf4j.trace.catalog;

import java.util.List;
import java.util.Optional;

/**
 * A probe's entry in a catalog. <i>Immutable.</i>
 *
 * <p>Tested by {@code CatalogTest}.
 *
 * @param name as in the probe's note: {@code gc__begin}
 * @param arguments in order, without gaps, at most twelve
 * @param description when the probe fires, in one or more sentences; may be empty
 * @param pair the pair that this probe begins, otherwise the first pair that it ends; empty if there is none
 */
public record ProbeSignature(
        String provider, String name, List<ProbeArgument> arguments, String description, Optional<ProbePair> pair) {
    public ProbeSignature {
        arguments = List.copyOf(arguments);
    }

    /** The argument of that name; empty if the probe has no such argument. */
    public Optional<ProbeArgument> argument(String argument) {
        return arguments.stream().filter(a -> a.name().equals(argument)).findFirst();
    }

    /** {@code provider:name}. */
    public String fullName() {
        return provider + ":" + name;
    }

    ProbeSignature withPair(ProbePair other) {
        return new ProbeSignature(provider, name, arguments, description, Optional.of(other));
    }
}
