package io.bpf4j.trace;

import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.trace.catalog.ProbeSignature;
import io.bpf4j.trace.internal.expression.Expression;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.site.UsdtSite;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Numbers the probes of a question, from 1: the number is in the cookie and tells a program which probe fired. A probe
 * has one number in all files in which it has the same number of arguments: the number of arguments distinguishes
 * versions of a program, in which a name may stand for another argument. Probes of the catalog that a pattern matches
 * are expected: they get their numbers before a file with them appears. So the expressions, which are compiled once,
 * can use their arguments.
 *
 * <p><i>Thread-safe.</i>
 *
 * <p>Tested by {@code ProbeNumbersTest} and {@code QuestionsOnKernelTest}.
 */
final class ProbeNumbers {
    /** {@code enum question_cookie} of {@code question.h}. */
    private static final int RETURN = 32;

    private static final int BEGIN = 33;

    private static final int END = 34;

    private static final int CALL = 35;

    private static final int SILENT = 36;

    private static final int GO = 37;

    private static final int NO_ARGUMENTS = 38;

    /** {@code QUESTION_PROCESS}. */
    private static final int PROCESS = 40;

    private final List<ProbePattern> pair;
    private final boolean byFrame;
    private final Map<Version, Integer> numbers = new HashMap<>();

    /** The first number of each name. */
    private final Map<String, Integer> firsts = new HashMap<>();

    private final List<Known> known = new ArrayList<>();

    /** A probe with a number of arguments, which distinguishes its versions. */
    private record Version(String fullName, int arguments) {
        static Version of(UsdtProbe probe) {
            return new Version(probe.fullName(), ProbeNumbers.arguments(probe.sites()));
        }
    }

    /**
     * A probe with a number.
     *
     * @param number from 1
     * @param arguments the largest number of arguments of a site
     * @param sites of the probe in all files that have it; empty if it is only expected, or a function
     * @param signature from the catalog
     */
    record Known(
            int number,
            String provider,
            String name,
            int arguments,
            List<UsdtSite> sites,
            Optional<ProbeSignature> signature,
            Optional<FunctionProbe> function,
            boolean begins,
            boolean ends) {
        String fullName() {
            return provider + ":" + name;
        }

        private Known withNumber(int other) {
            return new Known(other, provider, name, arguments, sites, signature, function, begins, ends);
        }
    }

    /** The numbers of a question's probes, and of those that it expects. */
    ProbeNumbers(Question question) {
        this.pair = question.pair;
        this.byFrame = byFrame(question);
        question.probes.stream()
                .collect(Collectors.groupingBy(Version::of, LinkedHashMap::new, Collectors.toList()))
                .values()
                .forEach(probes -> add(probes, question.catalog));
        question.functions.forEach(this::add);
        for (ProbePattern pattern : question.expected) {
            question.catalog
                    .matching(pattern)
                    .forEach(probe -> add(
                            probe.provider(),
                            probe.name(),
                            probe.arguments().size(),
                            List.of(),
                            Optional.of(probe),
                            Optional.empty()));
        }
        if (!question.expected.isEmpty()) {
            question.expressions()
                    .flatMap(text -> Expression.parse(text).texts().stream())
                    .forEach(name -> expectNamed(name, question.expected));
        }
    }

    /**
     * Whether each end is the return of the function that begins the pair: {@code u:parse_*} and {@code ur:parse_*}.
     */
    static boolean byFrame(Question question) {
        if (question.kind != QuestionKind.LATENCY || !question.pairedBy.isEmpty()) {
            return false;
        }
        String begin = question.pair.getFirst().toString();
        return begin.startsWith("u:") && question.pair.getLast().toString().equals("ur" + begin.substring(1));
    }

    /** Numbers a probe that an expression names, so that the compiled expression knows it when it appears. */
    private void expectNamed(String text, List<ProbePattern> expected) {
        int colon = text.indexOf(':');
        String provider = text.substring(0, Math.max(colon, 0));
        String name = text.substring(colon + 1);
        if (colon > 0
                && !firsts.containsKey(text)
                && expected.stream().anyMatch(pattern -> pattern.matches(provider, name))) {
            add(provider, name, 0, List.of(), Optional.empty(), Optional.empty());
        }
    }

    /** Adds a probe that several files may have, with arguments of different sizes. */
    private void add(List<UsdtProbe> inFiles, Catalog catalog) {
        UsdtProbe first = inFiles.getFirst();
        List<UsdtSite> sites =
                inFiles.stream().flatMap(probe -> probe.sites().stream()).toList();
        int arguments = arguments(sites);
        add(
                first.provider(),
                first.name(),
                arguments,
                sites,
                catalog.find(first.provider(), first.name(), arguments),
                Optional.empty());
    }

    private static int arguments(List<UsdtSite> sites) {
        return sites.stream().mapToInt(site -> site.args().size()).max().orElse(0);
    }

    private void add(FunctionProbe function) {
        add(function.provider(), function.name(), 0, List.of(), Optional.empty(), Optional.of(function));
    }

    private void add(
            String provider,
            String name,
            int arguments,
            List<UsdtSite> sites,
            Optional<ProbeSignature> signature,
            Optional<FunctionProbe> function) {
        String fullName = provider + ":" + name;
        int number = known.size() + 1;
        if (numbers.putIfAbsent(new Version(fullName, arguments), number) == null) {
            firsts.putIfAbsent(fullName, number);
            known.add(new Known(
                    number,
                    provider,
                    name,
                    arguments,
                    sites,
                    signature,
                    function,
                    !pair.isEmpty() && matches(pair.getFirst(), provider, name, function),
                    !pair.isEmpty() && matches(pair.getLast(), provider, name, function)));
        }
    }

    private static boolean matches(
            ProbePattern pattern, String provider, String name, Optional<FunctionProbe> function) {
        return function.map(probe -> FunctionPattern.matches(pattern, probe))
                .orElseGet(() -> pattern.matches(provider, name));
    }

    /** The probes so far, in the order of their numbers. */
    synchronized List<Known> all() {
        return List.copyOf(known);
    }

    /** The probes that begin a pair, each with the number that its events have. */
    synchronized List<Known> begins() {
        return known.stream()
                .filter(Known::begins)
                .map(probe -> probe.withNumber(
                        probe.function().map(this::numberInCookie).orElse(probe.number())))
                .toList();
    }

    /** The number in the cookie of a function: if entry and return are a pair, both have that of the return. */
    private int numberInCookie(FunctionProbe function) {
        int number = Objects.requireNonNull(firsts.get(function.fullName()));
        return byFrame ? firsts.getOrDefault("ur:" + function.name(), number) : number;
    }

    /**
     * The cookie of a probe. A version without a number gets the number of another version; a probe without any number
     * gets a new number.
     */
    synchronized long cookie(UsdtProbe probe) {
        Integer number = numbers.get(Version.of(probe));
        if (number == null && !firsts.containsKey(probe.fullName())) {
            add(
                    probe.provider(),
                    probe.name(),
                    arguments(probe.sites()),
                    probe.sites(),
                    Optional.empty(),
                    Optional.empty());
        }
        return cookie(number != null ? number : Objects.requireNonNull(firsts.get(probe.fullName())));
    }

    /**
     * Checks that all functions have numbers.
     *
     * @throws IllegalArgumentException if one has none
     */
    synchronized void require(List<FunctionProbe> functions) {
        for (FunctionProbe function : functions) {
            if (!firsts.containsKey(function.fullName())) {
                throw new IllegalArgumentException("the question is not about " + function);
            }
        }
    }

    /**
     * The cookie of a function's entry or return. If they are a pair, both have the number of the return.
     *
     * @param both whether both are probed
     * @param pid the process that is attached in; 0 for all
     */
    synchronized long cookie(FunctionProbe function, boolean both, int pid) {
        int number = Objects.requireNonNull(firsts.get(function.fullName()));
        long part = cookie(number) & -1L << Integer.SIZE;
        return numberInCookie(function)
                | part
                | (function.returns() ? 1L << RETURN : both ? 1L << CALL : 0)
                | (long) pid << PROCESS;
    }

    /** The part of a function's cookie that encodes where its arguments are. */
    static long convention(FunctionProbeData.Convention convention) {
        return switch (convention) {
            case C -> 0;
            case GO_REGISTERS -> 1L << GO;
            case GO_OTHER -> 1L << NO_ARGUMENTS;
        };
    }

    /**
     * The cookie of an entry that is probed only to notice returns that the kernel drops.
     *
     * @param pid the process that is attached in; 0 for all
     */
    static long silent(int pid) {
        return 1L << CALL | 1L << SILENT | (long) pid << PROCESS;
    }

    private long cookie(int number) {
        Known numbered = known.get(number - 1);
        return numbered.number() | (numbered.begins() ? 1L << BEGIN : 0) | (numbered.ends() ? 1L << END : 0);
    }

    /** Whether the question uses a probe: a latency uses only probes that begin or end a pair. */
    boolean uses(UsdtProbe probe) {
        return pair.isEmpty() || pair.stream().anyMatch(pattern -> pattern.matches(probe));
    }

    /** Whether the question has pairs whose begin and end can be events of one moment; a call returns after its entry. */
    boolean arePairs() {
        return !pair.isEmpty() && !byFrame;
    }

    /** Whether a probe begins pairs, and has to run before an end of the same moment. */
    boolean mustRunFirst(UsdtProbe probe) {
        return arePairs() && pair.getFirst().matches(probe);
    }

    /** The same of a function. */
    boolean mustRunFirst(FunctionProbe function) {
        return arePairs() && FunctionPattern.matches(pair.getFirst(), function);
    }

    /** {@code provider:name} of the probe that began a pair, by the cookie of that event. */
    String nameOfBegin(long cookie) {
        String name = name(cookie);
        return byFrame && name.startsWith("ur:") ? "u:" + name.substring("ur:".length()) : name;
    }

    /** The number of the first probe that has the same provider as the probe with a number. */
    synchronized long firstOfProvider(long number) {
        if (number < 1 || number > known.size()) {
            return number;
        }
        String provider = known.get((int) number - 1).provider();
        return known.stream()
                .filter(probe -> probe.provider().equals(provider))
                .findFirst()
                .orElseThrow()
                .number();
    }

    /** {@code provider:name} of the probe with this cookie. */
    synchronized String name(long cookie) {
        int number = (int) cookie;
        return number > 0 && number <= known.size() ? known.get(number - 1).fullName() : "?";
    }
}
