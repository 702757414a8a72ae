package io.bpf4j.trace.expression;

import java.util.List;

/**
 * The tree of an expression as it is written: names have no meaning yet, and parts have no type. Each part has the
 * index of its first character in the text, or of its operator, for messages. <i>Immutable.</i>
 *
 * <p>Tested by {@code ExpressionTest}.
 */
sealed interface Syntax {
    int at();

    /** A literal number; it is {@link Type.Int#S64} unless only an unsigned type can hold it. */
    record Numeral(int at, long value, Type.Int type) implements Syntax {}

    record Truth(int at, boolean value) implements Syntax {}

    /** A literal text. */
    record Text(int at, Bytes bytes) implements Syntax {}

    record Name(int at, String name) implements Syntax {}

    /** {@code operator} is {@code - ~ !} or {@code *}. */
    record Unary(int at, String operator, Syntax operand) implements Syntax {}

    /** {@code operator} is one of {@link Parser#LEVELS}. */
    record Binary(int at, String operator, Syntax left, Syntax right) implements Syntax {}

    record Conditional(int at, Syntax condition, Syntax then, Syntax otherwise) implements Syntax {}

    record Cast(int at, Type.Int type, Syntax operand) implements Syntax {}

    /** A cast to a pointer; only {@code *} takes it. */
    record PointerCast(int at, Type.Int type, Syntax operand) implements Syntax {}

    record Call(int at, String function, List<Syntax> arguments) implements Syntax {}
}
