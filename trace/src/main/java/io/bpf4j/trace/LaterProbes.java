package io.bpf4j.trace;

import io.bpf4j.trace.catalog.ArgumentType;
import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.trace.internal.expression.Scope;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.site.UsdtArg;
import io.bpf4j.usdt.site.UsdtSite;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Checks probes of files that appear after a question was compiled. <i>Confined</i> while the question is compiled,
 * <i>immutable</i> after that.
 *
 * <p>The functions of the question can't be compiled again. A later version of a probe may have an argument of another
 * type: they would read the bits of a {@code double} as a whole number, or -1 as 18446744073709551615. The name of an
 * argument may stand for another argument of a later probe. The functions compare the names of probes by their numbers,
 * so a comparison is false for a probe that got its number later. Probes for which the answer would be wrong are
 * refused.
 *
 * <p>Tested by {@code QuestionsOnKernelTest}.
 */
final class LaterProbes {
    /** By the numbers of probes; {@link Scope#LATER} for those that were not known. */
    private final Map<Integer, Set<Use>> uses = new HashMap<>();

    /** Whether a comparison of a probe's name is true of {@code provider:name}. */
    private final List<Predicate<String>> comparisons = new ArrayList<>();

    private final boolean expected;

    private record Use(String name, Scope.Argument argument) {}

    /** @param expected whether the question was compiled for probes that are not known yet */
    LaterProbes(boolean expected) {
        this.expected = expected;
    }

    /** Adds an argument, by the numbers of the probes that have it. */
    void add(String name, Map<Integer, Scope.Argument> byProbe) {
        byProbe.forEach((number, argument) ->
                uses.computeIfAbsent(number, _ -> new LinkedHashSet<>()).add(new Use(name, argument)));
    }

    /** Adds a comparison of a probe's name. */
    void add(Predicate<String> isTrue) {
        comparisons.add(isTrue);
    }

    /**
     * Checks a probe before it is attached.
     *
     * @param number of the probe
     * @param compiled whether the probe had the number when the question was compiled; if not, the functions read its
     *     arguments as those of other probes
     * @throws UsdtException if an argument has another type at a site of the probe, if the name of an argument is known
     *     for other probes only, or if a comparison is true of the probe's name, which the functions don't know
     */
    void check(UsdtProbe probe, int number, boolean compiled) {
        if (!compiled && comparisons.stream().anyMatch(isTrue -> isTrue.test(probe.fullName()))) {
            throw refused(
                    probe,
                    "the question compares names of probes, and was compiled before this probe was known; name the file"
                            + " when the question starts");
        }
        Collection<Set<Use>> relevant = compiled || expected
                ? List.of(uses.getOrDefault(compiled ? number : Scope.LATER, Set.of()))
                : uses.values();
        for (Set<Use> usesOfProbe : relevant) {
            for (Use use : usesOfProbe) {
                if (!compiled && !ProbeScope.isNumbered(use.name())) {
                    throw refused(
                            probe,
                            "the question reads " + use.name() + ", but only other probes are known to have it; guard"
                                    + " it, as in probe == \"…\" && …");
                }
                for (UsdtSite site : probe.sites()) {
                    if (use.argument().index() < site.args().size()) {
                        check(probe, use, site.args().get(use.argument().index()), compiled);
                    }
                }
            }
        }
    }

    private static void check(UsdtProbe probe, Use use, UsdtArg arg, boolean compiled) {
        ArgumentType type = use.argument().type().orElseThrow();
        int floating = type instanceof ArgumentType.FloatingPoint(ValueType.FloatingPoint(int size)) ? size : 0;
        if (floating != (arg.isFloat() ? arg.size() : 0)) {
            throw refused(probe, use, number(arg.isFloat() ? arg.size() : 0), number(floating));
        }
        // Arguments of different probes are converted as C converts its types; a type of the catalog applies whatever
        // the sites declare.
        boolean unsigned = type instanceof ArgumentType.Int integer
                && integer.number().isU64()
                && ProbeScope.isNumbered(use.name());
        if (compiled && unsigned && mayBeNegative(arg)) {
            throw refused(probe, use, "a signed number", "an unsigned number");
        }
    }

    private static boolean mayBeNegative(UsdtArg arg) {
        return arg.signed() && !(arg.operand() instanceof UsdtArg.Constant(long value) && arg.cut(value) >= 0);
    }

    private static String number(int floating) {
        return floating == 0 ? "a whole number" : "a floating-point number of " + floating + " bytes";
    }

    private static UsdtException refused(UsdtProbe probe, Use use, String actual, String compiledAs) {
        return refused(
                probe,
                use.name() + " is " + actual + " in this file, but the question reads it as " + compiledAs
                        + ", because it was compiled before the file was known; name the file when the question"
                        + " starts");
    }

    private static UsdtException refused(UsdtProbe probe, String reason) {
        return new UsdtException(
                "attach " + probe.fullName() + " in " + probe.binary().name() + ": " + reason);
    }
}
