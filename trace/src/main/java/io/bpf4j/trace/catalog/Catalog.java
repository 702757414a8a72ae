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
 * Signatures of probes, and questions with names. <i>Immutable.</i>
 *
 * <p>{@link #builtIn} is the catalog of well-known programs; {@link #read} reads a user's own catalog. docs/catalog.md
 * describes the format.
 */
public final class Catalog {
    /** An entry hides the entries of later parts that have the same name. */
    private final List<CatalogPart> parts;

    Catalog(List<CatalogPart> parts) {
        this.parts = List.copyOf(parts);
    }

    /** The catalog of bpf4j. The entries of a program are read when they are first needed. */
    public static Catalog builtIn() {
        return BuiltInCatalog.CATALOG;
    }

    /**
     * Reads a catalog from a file of UTF-8 text, which has at most 1 MiB.
     *
     * @throws CatalogException if the file breaks the rules of the format, or is too large
     * @throws IOException if the file can't be read, or is not a regular file
     */
    public static Catalog read(Path file) throws IOException {
        return parse(file.toString(), CatalogText.read(file));
    }

    /**
     * Parses a catalog.
     *
     * @param source the name that errors give the text, such as the name of its file
     * @throws CatalogException if the text breaks the rules of the format, or is too large
     */
    public static Catalog parse(String source, String text) {
        return new CatalogParser(source).parse(text);
    }

    /** Joins two catalogs. Entries of the other catalog hide those of this catalog that have the same name. */
    public Catalog with(Catalog other) {
        return new Catalog(Stream.concat(other.parts.stream(), parts.stream()).toList());
    }

    /** The signature of a probe; if versions of a program differ in its arguments, that of the newest version. */
    public Optional<ProbeSignature> find(String provider, String name) {
        return named(provider, name).findFirst();
    }

    /**
     * The signature of a probe with a number of arguments. Each site has this number, which distinguishes versions of a
     * program. If no entry has that number, the result is the first entry, whose arguments may not be those of the
     * site.
     */
    public Optional<ProbeSignature> find(String provider, String name, int argumentCount) {
        return named(provider, name)
                .filter(probe -> probe.arguments().size() == argumentCount)
                .findFirst()
                .or(() -> find(provider, name));
    }

    /** The entries of all probes, in order; a probe may have several. */
    public List<ProbeSignature> probes() {
        return probes(parts.stream());
    }

    /** The probes whose provider and name match the pattern, in order. Reads only the files that may have some. */
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

    /** The question of that name; empty if it does not exist. */
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
