package io.bpf4j.trace.catalog;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The entries of one source of a catalog. The source is read when an entry of it may be needed, so a command that asks
 * for the probes of one program need not wait until those of all others have been parsed. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code CatalogTest} and {@code BuiltInCatalogTest}.
 */
final class CatalogPart {
    /** The providers of its probes; empty if they are known only after reading. */
    private final Optional<Set<String>> providers;

    /** The groups of its questions. */
    private final Optional<Set<String>> groups;

    private final Supplier<Entries> reader;

    /** The entries, once they were read. Two threads may both read them, with the same result. */
    private volatile Optional<Entries> entries = Optional.empty();

    /**
     * The entries of a part.
     *
     * @param byName by full name; several entries for a probe with different numbers of arguments, in their order
     */
    record Entries(
            List<ProbeSignature> probes, List<ReadyQuestion> questions, Map<String, List<ProbeSignature>> byName) {
        static Entries of(List<ProbeSignature> probes, List<ReadyQuestion> questions) {
            Map<String, List<ProbeSignature>> byName = new LinkedHashMap<>();
            probes.forEach(probe -> byName.computeIfAbsent(probe.fullName(), _ -> new ArrayList<>(1))
                    .add(probe));
            return new Entries(List.copyOf(probes), List.copyOf(questions), byName);
        }
    }

    private CatalogPart(Optional<Set<String>> providers, Optional<Set<String>> groups, Supplier<Entries> reader) {
        this.providers = providers;
        this.groups = groups;
        this.reader = reader;
    }

    /** A part that has been read. */
    static CatalogPart of(Entries entries) {
        return new CatalogPart(Optional.empty(), Optional.empty(), () -> entries);
    }

    /** A part that {@code reader} reads when one of its providers or groups is asked for; the sets must be complete. */
    static CatalogPart of(Set<String> providers, Set<String> groups, Supplier<Entries> reader) {
        return new CatalogPart(Optional.of(providers), Optional.of(groups), reader);
    }

    /** The providers of which this part may have probes. */
    Set<String> providers() {
        if (providers.isPresent()) {
            return providers.get();
        }
        return entries().probes().stream().map(ProbeSignature::provider).collect(Collectors.toUnmodifiableSet());
    }

    /** Whether this part may have questions of that group. */
    boolean hasGroup(String group) {
        return groups.isEmpty() || groups.get().contains(group);
    }

    Entries entries() {
        Optional<Entries> read = entries;
        if (read.isEmpty()) {
            read = Optional.of(reader.get());
            entries = read;
        }
        return read.get();
    }

    /** The entries of a probe. */
    List<ProbeSignature> named(String provider, String name) {
        return providers.isPresent() && !providers.get().contains(provider)
                ? List.of()
                : entries().byName().getOrDefault(provider + ":" + name, List.of());
    }
}
