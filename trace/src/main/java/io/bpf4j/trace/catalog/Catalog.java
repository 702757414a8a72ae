package io.bpf4j.trace.catalog;

import io.bpf4j.loader.error.UnknownNameException;
import io.bpf4j.usdt.ProbePattern;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Signatures of probes, and questions with names. <b>Immutable</b>.
 *
 * <p>{@link #builtIn} has those of well-known programs; {@link #read} reads a user's own. The format is described in
 * docs/catalog.md.
 */
public final class Catalog {
    /** Entries of a part hide those of later parts that have the same name. */
    private final List<CatalogPart> parts;

    Catalog(List<CatalogPart> parts) {
        this.parts = List.copyOf(parts);
    }

    /** The catalog of bpf4j. The entries of a program are read when they are first needed. */
    public static Catalog builtIn() {
        return BuiltInCatalog.CATALOG;
    }

    /**
     * Reads a file.
     *
     * @throws CatalogException if it breaks the rules of the format, or is too large
     * @throws IOException if it can't be read, or is no regular file
     */
    public static Catalog read(Path file) throws IOException {
        return parse(file.toString(), CatalogText.read(file));
    }

    /**
     * Parses a text.
     *
     * @param source what errors call the text, such as the name of its file
     * @throws CatalogException if it breaks the rules of the format, or is too large
     */
    public static Catalog parse(String source, String text) {
        return new CatalogParser(source).parse(text);
    }

    /** Both catalogs, the other's entries first: they hide those of this catalog that have the same name. */
    public Catalog with(Catalog other) {
        return new Catalog(Stream.concat(other.parts.stream(), parts.stream()).toList());
    }

    /** The probe; if several versions of a program have it with different arguments, the newest. */
    public Optional<ProbeSignature> find(String provider, String name) {
        return named(provider, name).findFirst();
    }

    /**
     * The probe with that number of arguments. The number, which each site tells, distinguishes versions of a program. If
     * no entry has that number, the result is the first entry, whose arguments may then not be those of the site.
     */
    public Optional<ProbeSignature> find(String provider, String name, int argumentCount) {
        return named(provider, name)
                .filter(probe -> probe.arguments().size() == argumentCount)
                .findFirst()
                .or(() -> find(provider, name));
    }

    /** All probes, in order; one that has several entries comes several times. */
    public List<ProbeSignature> probes() {
        return probes(parts.stream());
    }

    /** The probes that the pattern matches by provider and name, in order; no others need be read for that. */
    public List<ProbeSignature> matching(ProbePattern pattern) {
        return probes(parts.stream().filter(part -> part.providers().stream().anyMatch(pattern::matchesProvider)))
                .stream()
                .filter(probe -> pattern.matches(probe.provider(), probe.name()))
                .toList();
    }

    private static List<ProbeSignature> probes(Stream<CatalogPart> parts) {
        return joined(
                parts.flatMap(part -> part.entries().probes().stream()),
                probe -> List.of(probe.fullName(), probe.arguments().size()));
    }

    /** All questions, in order. */
    public List<ReadyQuestion> questions() {
        return questions(parts.stream());
    }

    private static List<ReadyQuestion> questions(Stream<CatalogPart> parts) {
        return joined(
                parts.flatMap(part -> part.entries().questions().stream()),
                question -> List.of(question.group(), question.name()));
    }

    /** The groups of the questions, in order. */
    public List<String> groups() {
        return questions().stream().map(ReadyQuestion::group).distinct().toList();
    }

    /** The questions of a group, in order; empty if no such group exists. */
    public List<ReadyQuestion> questions(String group) {
        return questions(parts.stream().filter(part -> part.hasGroup(group))).stream()
                .filter(question -> question.group().equals(group))
                .toList();
    }

    /** The question of that name. */
    public Optional<ReadyQuestion> findQuestion(String group, String name) {
        return questions(group).stream()
                .filter(question -> question.name().equals(name))
                .findFirst();
    }

    /**
     * The question of that name.
     *
     * @throws UnknownNameException if the group, or the question in it, does not exist
     */
    public ReadyQuestion question(String group, String name) {
        List<ReadyQuestion> candidates = questions(group);
        if (candidates.isEmpty()) {
            throw new UnknownNameException("group of questions", group, "the catalog", groups());
        }
        return findQuestion(group, name)
                .orElseThrow(() -> new UnknownNameException(
                        "question",
                        name,
                        "the group '" + group + "'",
                        candidates.stream().map(ReadyQuestion::name).toList()));
    }

    private Stream<ProbeSignature> named(String provider, String name) {
        return parts.stream().flatMap(part -> part.named(provider, name).stream());
    }

    private static <T> List<T> joined(Stream<T> entries, Function<T, Object> key) {
        Map<Object, T> joined = new LinkedHashMap<>();
        entries.forEach(entry -> joined.putIfAbsent(key.apply(entry), entry));
        return List.copyOf(joined.values());
    }
}
