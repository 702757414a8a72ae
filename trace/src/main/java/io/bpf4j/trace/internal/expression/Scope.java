package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.catalog.ArgumentType;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The meaning of names in an expression, for the probes that it is evaluated for. Probes are numbered from 1; the
 * number is in the low 32 bits of an event's cookie. An implementation is immutable: what a function uses of it is a
 * part of the function ({@link NameUse}).
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
public interface Scope {
    /** The number of arguments that an event has room for. */
    int ARGUMENTS = 12;

    /**
     * The argument that a name stands for, by the number of the probe. A probe that lacks the argument is not in the
     * map. Empty if no probe has it.
     *
     * @param name {@code arg0} to {@code arg11}, or the name of an argument
     */
    Optional<Map<Integer, Argument>> find(String name);

    /** The number that stands for all probes that are not in {@link #probes}. */
    int LATER = 0;

    /**
     * Whether events of probes that are not in {@link #probes} may come. For these a comparison of a probe's name is
     * false, and a name has the value that it has for most probes.
     */
    default boolean isOpen() {
        return false;
    }

    /** The values of the pair's begin, for functions that are called at its end; empty for all others. */
    default Optional<BeginValues> begin() {
        return Optional.empty();
    }

    /** All names that {@link #find} knows, for messages. */
    Collection<String> names();

    /** The probes' names by their numbers: {@code provider:name}. Versions of a probe share a name. */
    Map<Integer, String> probes();

    /** The numbers of the probes that are returns of functions, for which {@code retval} has a value. */
    Set<Integer> returns();

    /**
     * An argument of a probe. <i>Immutable.</i>
     *
     * @param index from 0
     * @param type empty if the argument is a floating-point number at some sites of the probe and has another type at
     *     others, so that it can't be used
     */
    record Argument(int index, Optional<ArgumentType> type) {
        public Argument {
            checkIndex(index);
            if (type.orElse(null) instanceof ArgumentType.Text text) {
                text.length().ifPresent(Scope::checkIndex);
            }
        }

        public Argument(int index, ArgumentType type) {
            this(index, Optional.of(type));
        }
    }

    private static void checkIndex(int index) {
        if (index < 0 || index >= ARGUMENTS) {
            throw new IllegalArgumentException("argument " + index + "; an event has " + ARGUMENTS);
        }
    }
}
