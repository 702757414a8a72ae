package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.expression.ValueType;
import java.util.List;

/**
 * The tree of an expression as it is written: names have no meaning yet, and parts have no type. Each part has the
 * index of its first character in the text, or of its operator, for messages. <i>Immutable.</i>
 *
 * <p>Tested by {@code ExpressionTest}.
 */
sealed interface Syntax {
    int at();

    /** A literal number; it is {@link ValueType.Int#S64} unless only an unsigned type can hold it. */
    record Numeral(int at, long value, ValueType.Int type) implements Syntax {}

    record Truth(int at, boolean value) implements Syntax {}

    /** A literal text. */
    record Text(int at, Bytes bytes) implements Syntax {}

    /**
     * The name of a value.
     *
     * @param ofBegin whether it is a value at a latency's begin: {@code begin.name}
     */
    record Name(int at, String name, boolean ofBegin) implements Syntax {
        /** The name as it is written. */
        String written() {
            return (ofBegin ? Lexer.BEGIN : "") + name;
        }
    }

    /** {@code operator} is {@code - ~ !} or {@code *}. */
    record Unary(int at, String operator, Syntax operand) implements Syntax {}

    /** {@code operator} is one of {@link Parser#LEVELS}. */
    record Binary(int at, String operator, Syntax left, Syntax right) implements Syntax {}

    record Conditional(int at, Syntax condition, Syntax then, Syntax otherwise) implements Syntax {}

    record Cast(int at, ValueType.Int type, Syntax operand) implements Syntax {}

    /** A cast to a pointer; only {@code *} takes it. */
    record PointerCast(int at, ValueType.Int type, Syntax operand) implements Syntax {}

    record Call(int at, String function, List<Syntax> arguments) implements Syntax {}

    /** The parts of this part. */
    default List<Syntax> parts() {
        return switch (this) {
            case Numeral _, Truth _, Text _, Name _ -> List.of();
            case Unary unary -> List.of(unary.operand());
            case Cast cast -> List.of(cast.operand());
            case PointerCast cast -> List.of(cast.operand());
            case Call call -> call.arguments();
            case Binary binary -> List.of(binary.left(), binary.right());
            case Conditional choice -> List.of(choice.condition(), choice.then(), choice.otherwise());
        };
    }

    /** Whether it has names, and all of them are names of values at a latency's begin. */
    default boolean isOfBegin() {
        return hasName(true) && !hasName(false);
    }

    private boolean hasName(boolean ofBegin) {
        return this instanceof Name name
                ? name.ofBegin() == ofBegin
                : parts().stream().anyMatch(part -> part.hasName(ofBegin));
    }

    /** The same without positions: equal for parts that are written alike. */
    default Syntax unplaced() {
        return switch (this) {
            case Numeral(int _, long value, ValueType.Int type) -> new Numeral(0, value, type);
            case Truth(int _, boolean value) -> new Truth(0, value);
            case Text(int _, Bytes bytes) -> new Text(0, bytes);
            case Name(int _, String name, boolean ofBegin) -> new Name(0, name, ofBegin);
            case Unary(int _, String operator, Syntax operand) -> new Unary(0, operator, operand.unplaced());
            case Binary(int _, String operator, Syntax left, Syntax right) ->
                new Binary(0, operator, left.unplaced(), right.unplaced());
            case Conditional(int _, Syntax condition, Syntax then, Syntax otherwise) ->
                new Conditional(0, condition.unplaced(), then.unplaced(), otherwise.unplaced());
            case Cast(int _, ValueType.Int type, Syntax operand) -> new Cast(0, type, operand.unplaced());
            case PointerCast(int _, ValueType.Int type, Syntax operand) -> new PointerCast(0, type, operand.unplaced());
            case Call(int _, String function, List<Syntax> arguments) ->
                new Call(0, function, arguments.stream().map(Syntax::unplaced).toList());
        };
    }
}
