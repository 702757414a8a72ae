package io.bpf4j.trace;

import io.bpf4j.trace.catalog.ArgumentType;
import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.trace.internal.expression.GeneratedFunction;
import io.bpf4j.trace.internal.expression.NameUse;
import io.bpf4j.trace.internal.expression.Scope;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.site.UsdtArg;
import io.bpf4j.usdt.site.UsdtSite;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Checks probes of files that appear after a question was compiled. <i>Immutable.</i>
 *
 * <p>The functions of the question can't be compiled again. A later version of a probe may have an argument of another
 * type: they would read the bits of a {@code double} as a whole number, or -1 as 18446744073709551615. The name of an
 * argument may stand for another argument of a later probe. The functions compare the names of probes by their numbers,
 * so a comparison is false for a probe that got its number later. Probes for which the answer would be wrong are
 * refused.
 *
 * <p>Tested by {@code LaterProbesTest} and {@code CompiledQuestionTest}.
 */
final class LaterProbes {
    private final List<NameUse> uses;

    /** How many probes had a number when the question was compiled. */
    private final int compiled;

    /** @param functions the functions of the question */
    LaterProbes(List<GeneratedFunction> functions, int compiled) {
        this.uses = functions.stream()
                .flatMap(function -> function.uses().stream())
                .distinct()
                .toList();
        this.compiled = compiled;
    }

    /**
     * Checks a probe before it is attached.
     *
     * @param number of the probe
     * @throws UsdtException if an argument has another type at a site of the probe, if the name of an argument is known
     *     for other probes only, or if a comparison is true of the probe's name, which the functions don't know
     */
    void check(UsdtProbe probe, int number) {
        boolean known = number <= compiled;
        for (NameUse use : uses) {
            switch (use) {
                case NameUse.Comparison(Predicate<String> isTrue) -> {
                    if (!known && isTrue.test(probe.fullName())) {
                        throw refused(
                                probe,
                                "the question compares names of probes, and was compiled before this probe was known;"
                                        + " name the file when the question starts");
                    }
                }
                case NameUse.OfArgument(String name, Map<Integer, Scope.Argument> byProbe) -> {
                    Scope.Argument argument = byProbe.get(known ? number : Scope.LATER);
                    if (argument != null) {
                        check(probe, name, argument, known);
                    }
                }
            }
        }
    }

    private static void check(UsdtProbe probe, String name, Scope.Argument argument, boolean known) {
        if (!known && !ProbeScope.isNumbered(name)) {
            throw refused(
                    probe,
                    "the question reads " + name + ", but only other probes are known to have it; guard it, as in"
                            + " probe == \"…\" && …");
        }
        for (UsdtSite site : probe.sites()) {
            if (argument.index() < site.args().size()) {
                check(probe, name, argument, site.args().get(argument.index()), known);
            }
        }
    }

    private static void check(UsdtProbe probe, String name, Scope.Argument argument, UsdtArg arg, boolean known) {
        ArgumentType type = argument.type().orElseThrow();
        int floating = type instanceof ArgumentType.FloatingPoint(ValueType.FloatingPoint(int size)) ? size : 0;
        if (floating != (arg.isFloat() ? arg.size() : 0)) {
            throw refused(probe, name, number(arg.isFloat() ? arg.size() : 0), number(floating));
        }
        // Arguments of different probes are converted as C converts its types; a type of the catalog applies whatever
        // the sites declare.
        boolean unsigned =
                type instanceof ArgumentType.Int integer && integer.number().isU64() && ProbeScope.isNumbered(name);
        if (known && unsigned && mayBeNegative(arg)) {
            throw refused(probe, name, "a signed number", "an unsigned number");
        }
    }

    private static boolean mayBeNegative(UsdtArg arg) {
        return arg.signed() && !(arg.operand() instanceof UsdtArg.Constant(long value) && arg.cut(value) >= 0);
    }

    private static String number(int floating) {
        return floating == 0 ? "a whole number" : "a floating-point number of " + floating + " bytes";
    }

    private static UsdtException refused(UsdtProbe probe, String name, String actual, String compiledAs) {
        return refused(
                probe,
                name + " is " + actual + " in this file, but the question reads it as " + compiledAs
                        + ", because it was compiled before the file was known; name the file when the question"
                        + " starts");
    }

    private static UsdtException refused(UsdtProbe probe, String reason) {
        return new UsdtException(
                "attach " + probe.fullName() + " in " + probe.binary().name() + ": " + reason);
    }
}
