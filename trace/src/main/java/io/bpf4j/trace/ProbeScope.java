package io.bpf4j.trace;

import io.bpf4j.trace.catalog.ArgumentType;
import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.trace.internal.expression.BeginValues;
import io.bpf4j.trace.internal.expression.Scope;
import io.bpf4j.usdt.site.UsdtArg;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The meaning of names in the expressions of a question: arguments by their number, and by their name in the catalog.
 * <i>Immutable.</i>
 *
 * <p>Tested by {@code ProbeScopeTest} and {@code CompiledQuestionTest}.
 */
final class ProbeScope implements Scope {
    private static final Pattern BY_NUMBER = Pattern.compile("arg(0|[1-9]|1[01])");

    /** Arguments of functions that are passed in registers. */
    private static final int REGISTERS = 6;

    /** An argument of which only the number is known. */
    private static final ArgumentType UNKNOWN = new ArgumentType.Int(ValueType.Int.S64);

    private final List<ProbeNumbers.Known> probes;

    private final boolean open;

    private final Optional<BeginValues> begin;

    /** @param open whether probes may appear that are not known yet */
    ProbeScope(List<ProbeNumbers.Known> probes, boolean open) {
        this(probes, open, Optional.empty());
    }

    /** @param begin the values of the begin, if the probes end the pairs of a latency */
    ProbeScope(List<ProbeNumbers.Known> probes, boolean open, Optional<BeginValues> begin) {
        this.probes = probes;
        this.open = open;
        this.begin = begin;
    }

    @Override
    public Optional<BeginValues> begin() {
        return begin;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    /** Whether a name is an argument's number: {@code arg0}. */
    static boolean isNumbered(String name) {
        return BY_NUMBER.matcher(name).matches();
    }

    @Override
    public Optional<Map<Integer, Argument>> find(String name) {
        Map<Integer, Argument> byProbe = new HashMap<>();
        Matcher byNumber = BY_NUMBER.matcher(name);
        for (ProbeNumbers.Known probe : probes) {
            (byNumber.matches() ? numbered(probe, Integer.parseInt(byNumber.group(1))) : named(probe, name))
                    .ifPresent(argument -> byProbe.put(probe.number(), argument));
        }
        addToOtherVersions(byProbe);
        if (probes.isEmpty() && byNumber.matches()) {
            // All probes are in files that have not appeared yet: their arguments are known when they fire.
            byProbe.put(LATER, new Argument(Integer.parseInt(byNumber.group(1)), UNKNOWN));
        }
        return byProbe.isEmpty() ? Optional.empty() : Optional.of(byProbe);
    }

    /**
     * A number of 64 bits: the program extends an argument by the size and sign that its own site has, and a file that
     * appears later may have a wider one. It is unsigned only if all known sites have 64 bits without a sign.
     */
    private static Optional<Argument> numbered(ProbeNumbers.Known probe, int index) {
        if (probe.function().isPresent()) {
            return index < REGISTERS && !probe.function().get().returns()
                    ? Optional.of(new Argument(index, new ArgumentType.Int(ValueType.Int.REGISTER)))
                    : Optional.empty();
        }
        if (probe.sites().isEmpty()) {
            return Optional.of(new Argument(index, UNKNOWN));
        }
        List<UsdtArg> atSites = probe.sites().stream()
                .filter(site -> index < site.args().size())
                .map(site -> site.args().get(index))
                .toList();
        if (atSites.stream().anyMatch(UsdtArg::isFloat)) {
            return Optional.of(new Argument(index, floating(atSites)));
        }
        boolean signed = atSites.stream().anyMatch(arg -> arg.size() < Long.BYTES || arg.signed());
        ValueType.Int number = signed ? ValueType.Int.S64 : ValueType.Int.U64;
        return atSites.isEmpty() ? Optional.empty() : Optional.of(new Argument(index, new ArgumentType.Int(number)));
    }

    /** The floating-point type on which all sites agree; empty if they do not. */
    private static Optional<ArgumentType> floating(List<UsdtArg> atSites) {
        int size = atSites.getFirst().size();
        return atSites.stream().allMatch(arg -> arg.isFloat() && arg.size() == size)
                        && (size == Float.BYTES || size == Double.BYTES)
                ? Optional.of(new ArgumentType.FloatingPoint(new ValueType.FloatingPoint(size)))
                : Optional.empty();
    }

    /**
     * Adds the versions of a probe that lack an argument which another version has. Their argument has an index that
     * none of their sites has, so its value is counted as unreadable when such a version fires.
     */
    private void addToOtherVersions(Map<Integer, Argument> byProbe) {
        Map<String, Argument> byName = new HashMap<>();
        for (ProbeNumbers.Known probe : probes) {
            Argument argument = byProbe.get(probe.number());
            if (argument != null) {
                byName.putIfAbsent(probe.fullName(), argument);
            }
        }
        for (ProbeNumbers.Known probe : probes) {
            Argument other = byName.get(probe.fullName());
            if (other != null && probe.arguments() < ARGUMENTS) {
                byProbe.computeIfAbsent(probe.number(), _ -> new Argument(probe.arguments(), other.type()));
            }
        }
    }

    private static Optional<Argument> named(ProbeNumbers.Known probe, String name) {
        return probe.signature()
                .flatMap(signature -> signature
                        .argument(name)
                        .map(argument -> numbered(probe, argument.index())
                                .filter(ProbeScope::isFloating)
                                .orElseGet(() -> new Argument(argument.index(), argument.type()))));
    }

    /** Whether an argument is a floating-point number at a site. */
    private static boolean isFloating(Argument argument) {
        return argument.type().isEmpty() || argument.type().get() instanceof ArgumentType.FloatingPoint;
    }

    @Override
    public Collection<String> names() {
        Set<String> names = new LinkedHashSet<>();
        for (ProbeNumbers.Known probe : probes) {
            probe.signature().ifPresent(signature -> signature.arguments().forEach(a -> names.add(a.name())));
            if (probe.function().filter(function -> !function.returns()).isPresent()) {
                for (int i = 0; i < REGISTERS; i++) {
                    names.add("arg" + i);
                }
            }
            probe.sites().forEach(site -> {
                for (int i = 0; i < site.args().size(); i++) {
                    names.add("arg" + i);
                }
            });
        }
        return names;
    }

    @Override
    public Map<Integer, String> probes() {
        Map<Integer, String> names = new HashMap<>();
        probes.forEach(probe -> names.put(probe.number(), probe.fullName()));
        return names;
    }

    @Override
    public Set<Integer> returns() {
        return probes.stream()
                .filter(probe -> probe.function().filter(FunctionProbe::returns).isPresent())
                .map(ProbeNumbers.Known::number)
                .collect(Collectors.toSet());
    }
}
