package io.bpf4j.trace.event;

import io.bpf4j.trace.catalog.ArgumentType;
import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.trace.catalog.ProbeArgument;
import io.bpf4j.trace.catalog.ProbeSignature;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtProbe;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An argument that is read as text.
 *
 * <p>A probe's argument is a number. Whether it points to text, and where the text ends, is a convention of the
 * program: C ends it by a zero byte, HotSpot passes the length in a second argument and writes no zero.
 * <i>Immutable.</i>
 *
 * @param pointer number of the argument with the address, from 0
 * @param length number of the argument with the length in bytes, or {@link #ZERO_TERMINATED}
 */
public record TextArgument(int pointer, int length) {
    /** The text ends at its first zero byte. */
    public static final int ZERO_TERMINATED = -1;

    /** A USDT probe has at most this many arguments (BPF_USDT_MAX_ARG_CNT of libbpf's usdt.bpf.h). */
    public static final int MAX_ARGS = 12;

    private static final Pattern SYNTAX = Pattern.compile("([0-9]{1,4})(?::([0-9]{1,4}))?");

    public TextArgument {
        if (pointer < 0 || pointer >= MAX_ARGS || length < ZERO_TERMINATED || length >= MAX_ARGS) {
            throw new IllegalArgumentException("arguments are numbered from 0 to " + (MAX_ARGS - 1));
        }
        if (pointer == length) {
            throw new IllegalArgumentException("argument " + pointer + " can't be the address and the length at once");
        }
    }

    /** The highest argument that is read. */
    public int highest() {
        return Math.max(pointer, length);
    }

    /** The notation that {@link #parse} reads: {@code 0} or {@code 0:1}. */
    @Override
    public String toString() {
        return length == ZERO_TERMINATED ? Integer.toString(pointer) : pointer + ":" + length;
    }

    /**
     * Reads {@code N} or {@code N:M}.
     *
     * @throws IllegalArgumentException if it is neither, or a number is above 11
     */
    public static TextArgument parse(String text) {
        Matcher matcher = SYNTAX.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + text
                    + "' is neither N (argument N is a zero-terminated string)"
                    + " nor N:M (a string at argument N whose length is argument M)");
        }
        String length = matcher.group(2);
        return new TextArgument(
                Integer.parseInt(matcher.group(1)), length == null ? ZERO_TERMINATED : Integer.parseInt(length));
    }

    /**
     * The arguments that are text in the catalog. An event stream reads an argument in the same way for all its probes, so
     * an argument that is text for some of them only is left out.
     *
     * @param probes that are there now
     * @param expected patterns of probes that may appear, which are looked up in the catalog
     */
    public static List<TextArgument> known(List<UsdtProbe> probes, List<ProbePattern> expected, Catalog catalog) {
        Map<Integer, Set<Optional<TextArgument>>> byArgument = new TreeMap<>();
        for (UsdtProbe probe : probes) {
            int count = probe.sites().stream()
                    .mapToInt(site -> site.args().size())
                    .max()
                    .orElse(0);
            Optional<ProbeSignature> signature = catalog.find(probe.provider(), probe.name(), count);
            for (int n = 0; n < count; n++) {
                add(byArgument, n, signature);
            }
        }
        expected.stream()
                .flatMap(pattern -> catalog.matching(pattern).stream())
                .forEach(probe ->
                        probe.arguments().forEach(argument -> add(byArgument, argument.index(), Optional.of(probe))));
        return byArgument.values().stream()
                .filter(kinds -> kinds.size() == 1)
                .flatMap(Set::stream)
                .flatMap(Optional::stream)
                .toList();
    }

    private static void add(
            Map<Integer, Set<Optional<TextArgument>>> byArgument, int n, Optional<ProbeSignature> signature) {
        byArgument
                .computeIfAbsent(n, _ -> new HashSet<>())
                .add(signature.flatMap(probe ->
                        n < probe.arguments().size() ? of(probe.arguments().get(n)) : Optional.empty()));
    }

    private static Optional<TextArgument> of(ProbeArgument argument) {
        return argument.type() instanceof ArgumentType.Text text
                        && text.pointerAt().isEmpty()
                ? Optional.of(new TextArgument(argument.index(), text.length().orElse(ZERO_TERMINATED)))
                : Optional.empty();
    }
}
