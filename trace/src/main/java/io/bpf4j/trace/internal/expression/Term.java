package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.expression.ValueType;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;

/**
 * The typed tree of an expression. It has no names: an argument is an index, and a name that means different arguments
 * of different probes is a {@link Choice} by the probe. It has neither operators without a BPF operation ({@code -x} is
 * {@code 0 - x}) nor operations on constants. <i>Immutable.</i>
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
sealed interface Term {
    ValueType type();

    /** A term with a value of 64 bits: narrower types are extended, truth values are 0 or 1. */
    sealed interface Numeric extends Term {}

    record Constant(long value, ValueType type) implements Numeric {}

    /** An argument of the event: its low bytes, as many as the type has. */
    record Argument(int index, ValueType.Int type) implements Numeric {}

    record FieldValue(EventField field) implements Numeric {
        @Override
        public ValueType type() {
            return field.type();
        }
    }

    /**
     * Where a value of the pair's begin is.
     *
     * @param offset in the values of the begin, in bytes
     * @param bit in the first word of the values, which says that the value could not be read
     */
    record Slot(int offset, int bit) {}

    /** A number that was computed at the pair's begin. */
    record BeginNumber(Slot slot, ValueType type) implements Numeric {}

    /** The low bytes of a number, extended to 64 bits. */
    record Converted(Numeric operand, ValueType.Int type) implements Numeric {}

    /** A number in the memory of the process. */
    record Memory(Numeric address, ValueType.Int type) implements Numeric {}

    record Arithmetic(Operator operator, Numeric left, Numeric right, ValueType.Int type) implements Numeric {}

    /** One of two values. */
    record Choice(Numeric condition, Numeric then, Numeric otherwise, ValueType type) implements Numeric {}

    /** A term that is true or false, and for which code can jump. */
    sealed interface Condition extends Numeric {
        @Override
        default ValueType type() {
            return ValueType.Basic.BOOL;
        }
    }

    record Comparison(Relation relation, boolean unsigned, Numeric left, Numeric right) implements Condition {}

    record Both(Numeric left, Numeric right) implements Condition {}

    record Either(Numeric left, Numeric right) implements Condition {}

    record Not(Numeric operand) implements Condition {}

    /** Whether the event's probe is one of these. */
    record OfProbe(SortedSet<Integer> numbers) implements Condition {}

    record SameText(Textual left, Textual right) implements Condition {}

    record Matches(Textual text, PatternMachine pattern) implements Condition {}

    /** A term that is text, which is read into memory of its own. */
    sealed interface Textual extends Term {
        @Override
        default ValueType type() {
            return ValueType.Basic.TEXT;
        }

        /** The maximum number of bytes of the text. */
        int bound();
    }

    record Literal(Bytes bytes) implements Textual {
        @Override
        public int bound() {
            return bytes.length();
        }
    }

    /** The name of the thread. */
    record Comm() implements Textual {
        @Override
        public int bound() {
            return EventField.COMM_SIZE;
        }
    }

    /** The origin of a text's bound, which decides whether the bound may change. */
    enum BoundOrigin {
        /** The user chose the bound. It must fit the memory, and a text that fills it is not marked as cut. */
        CHOSEN,
        /** The default, which is lowered to the available memory. */
        DEFAULT,
        /** Like DEFAULT, but raised if the output has free memory: for names that often differ only at their end. */
        LONG
    }

    /**
     * Text in the memory of the process.
     *
     * @param length in bytes, a signed number; if empty, the text ends with NUL
     */
    record UserText(Numeric address, Optional<Numeric> length, int bound, BoundOrigin origin) implements Textual {}

    /**
     * Text that was read at the pair's begin; zeros follow it up to its bound.
     *
     * @param cuts whether a text that fills the bound may have been cut
     */
    record BeginText(Slot slot, int bound, boolean cuts) implements Textual {}

    /** One of two texts. */
    record TextChoice(Numeric condition, Textual then, Textual otherwise) implements Textual {
        @Override
        public int bound() {
            return Math.max(then.bound(), otherwise.bound());
        }
    }

    /** An argument that is a floating-point number: its bits are written as they are, without computation. */
    record FloatArgument(int index, ValueType.FloatingPoint type) implements Term {}

    /** A floating-point number or the name of a probe or provider at the pair's begin, written as it is. */
    record BeginBits(Slot slot, ValueType type) implements Term {}

    /** The name of the event's probe or provider. As an output it is a number, for which the reader finds the name. */
    record ProbeName(ValueType.Basic type) implements Term {}

    /**
     * The unit, container or pod to which the thread's control group belongs. It is written as the group's number; the
     * kernel does not know the name, so nothing can be compared with it.
     */
    record GroupName(ValueType.Basic type) implements Term {
        static final Set<ValueType> TYPES =
                Set.of(ValueType.Basic.UNIT, ValueType.Basic.CONTAINER, ValueType.Basic.POD);
    }
}
