package io.bpf4j.trace.catalog;

import io.bpf4j.loader.error.UnknownNameException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
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
    private final List<ProbeSignature> probes;
    private final List<ReadyQuestion> questions;

    /** By full name; of one probe the entries with different numbers of arguments, in the order of the catalog. */
    private final Map<String, List<ProbeSignature>> byName;

    Catalog(List<ProbeSignature> probes, List<ReadyQuestion> questions) {
        this.probes = List.copyOf(probes);
        this.questions = List.copyOf(questions);
        this.byName = new LinkedHashMap<>();
        this.probes.forEach(probe -> byName.computeIfAbsent(probe.fullName(), _ -> new ArrayList<>(1))
                .add(probe));
    }

    /** The catalog that bpf4j has; read at the first call. */
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
        return new Catalog(
                joined(
                        other.probes,
                        probes,
                        probe -> List.of(probe.fullName(), probe.arguments().size())),
                joined(other.questions, questions, question -> List.of(question.group(), question.name())));
    }

    /** The probe; if several versions of a program have it with different arguments, the newest. */
    public Optional<ProbeSignature> find(String provider, String name) {
        return named(provider, name).stream().findFirst();
    }

    /**
     * The probe with that number of arguments. The number, which each site tells, distinguishes versions of a program. If
     * no entry has that number, the result is the first entry, whose arguments may then not be those of the site.
     */
    public Optional<ProbeSignature> find(String provider, String name, int argumentCount) {
        return named(provider, name).stream()
                .filter(probe -> probe.arguments().size() == argumentCount)
                .findFirst()
                .or(() -> find(provider, name));
    }

    /** All probes, in order; one that has several entries comes several times. */
    public List<ProbeSignature> probes() {
        return probes;
    }

    /** All questions, in order. */
    public List<ReadyQuestion> questions() {
        return questions;
    }

    /** The groups of the questions, in order. */
    public List<String> groups() {
        return questions.stream().map(ReadyQuestion::group).distinct().toList();
    }

    /** The questions of a group, in order; empty if no such group exists. */
    public List<ReadyQuestion> questions(String group) {
        return questions.stream()
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

    private List<ProbeSignature> named(String provider, String name) {
        return byName.getOrDefault(provider + ":" + name, List.of());
    }

    private static <T> List<T> joined(List<T> first, List<T> second, Function<T, Object> key) {
        Map<Object, T> joined = new LinkedHashMap<>();
        Stream.concat(first.stream(), second.stream()).forEach(entry -> joined.putIfAbsent(key.apply(entry), entry));
        return List.copyOf(joined.values());
    }
}
