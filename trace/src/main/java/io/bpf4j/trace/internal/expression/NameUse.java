package io.bpf4j.trace.internal.expression;

import java.util.Map;
import java.util.function.Predicate;

/**
 * A name that a function depends on, as it was looked up when the function was compiled. Probes that were not known
 * then are checked against it. <i>Immutable.</i>
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
public sealed interface NameUse {
    /**
     * An argument that is read.
     *
     * @param name the name that {@link Scope#find} was asked for
     * @param byProbe what the name stands for, by the numbers of the probes for which the function evaluates it; {@link
     *     Scope#LATER} for probes that are not known
     */
    record OfArgument(String name, Map<Integer, Scope.Argument> byProbe) implements NameUse {
        public OfArgument {
            byProbe = Map.copyOf(byProbe);
        }
    }

    /**
     * A comparison of a probe's name or provider.
     *
     * @param isTrue whether the comparison is true of a probe, by its name: {@code provider:name}
     */
    record Comparison(Predicate<String> isTrue) implements NameUse {}
}
