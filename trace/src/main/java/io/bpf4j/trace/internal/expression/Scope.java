package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.expression.ValueType;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The meaning of names in an expression, for the probes that it is evaluated for. Probes are numbered from 1; the
 * number is in the low 32 bits of an event's cookie. An implementation must return the same values while a function is
 * generated.
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

    /**
     * Called for each argument that a function reads, while the function is generated. The default does nothing.
     *
     * @param name the name that was given to {@link #find}
     * @param arguments the result of {@code find}, without the probes for which the function does not evaluate the
     *     name; with {@link #LATER} if it evaluates the name for probes that are not known
     */
    default void reads(String name, Map<Integer, Argument> arguments) {}

    /** The number that stands for all probes that are not in {@link #probes}. */
    int LATER = 0;

    /**
     * Whether events of probes that are not in {@link #probes} may come. For these a comparison of a probe's name is
     * false, and a name has the value that it has for most probes.
     */
    default boolean isOpen() {
        return false;
    }

    /**
     * Called for each comparison of a probe's name or provider, while the function is generated. The default does
     * nothing.
     *
     * @param isTrue whether the comparison is true of a probe, by its name: {@code provider:name}
     */
    default void compares(Predicate<String> isTrue) {}

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
     * @param kind its type
     */
    record Argument(int index, Kind kind) {
        public Argument {
            checkIndex(index);
        }
    }

    /** The type of an argument. <i>Immutable.</i> */
    sealed interface Kind {}

    /**
     * A whole number.
     *
     * @param size in bytes: 1, 2, 4 or 8; higher bytes of the event's 64 bits are ignored
     * @param signed whether it may be negative
     */
    record Int(int size, boolean signed) implements Kind {
        public Int {
            new ValueType.Int(size, signed);
        }
    }

    /**
     * A floating-point number. BPF has no arithmetic for these, so such an argument must be the whole expression.
     *
     * @param size in bytes: 4 or 8; 0 if the argument has this type at some sites of the probe only, so that it can't
     *     be used
     */
    record FloatingPoint(int size) implements Kind {
        public FloatingPoint {
            if (size != 0) {
                new ValueType.FloatingPoint(size);
            }
        }
    }

    /** A truth value of one byte. */
    record Bool() implements Kind {}

    /** An address, as an unsigned number. */
    record Pointer() implements Kind {}

    /**
     * A pointer to text. The name stands for the text, not for the address.
     *
     * @param lengthArgument index of the argument with the length of the text in bytes; if empty, the text ends with
     *     NUL
     * @param pointerAt if present, the argument points to an object that has the pointer to the text at this offset in
     *     bytes
     * @param mangled whether the text is a mangled name. Such names often differ only at their end, so an output has as
     *     many bytes of it as there is room for
     */
    record Text(OptionalInt lengthArgument, OptionalInt pointerAt, boolean mangled) implements Kind {
        public Text {
            lengthArgument.ifPresent(Scope::checkIndex);
        }
    }

    private static void checkIndex(int index) {
        if (index < 0 || index >= ARGUMENTS) {
            throw new IllegalArgumentException("argument " + index + "; an event has " + ARGUMENTS);
        }
    }
}
