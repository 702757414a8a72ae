package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.expression.ValueType;

/**
 * A word of an expression, and the index of its first character. <i>Immutable.</i>
 *
 * <p>Tested by {@code ExpressionTest}.
 */
sealed interface Token {
    int at();

    record Numeral(int at, long value, ValueType.Int type) implements Token {}

    record Text(int at, Bytes bytes) implements Token {}

    /** A name, or a word of the language. */
    record Word(int at, String word) implements Token {}

    record Symbol(int at, String symbol) implements Token {}

    record End(int at) implements Token {}

    default boolean isSymbol(String symbol) {
        return this instanceof Symbol s && s.symbol().equals(symbol);
    }

    /** The token as messages name it. */
    default String described() {
        return switch (this) {
            case Numeral n -> "a number";
            case Text t -> "a text";
            case Word w -> "'" + w.word() + "'";
            case Symbol s -> "'" + s.symbol() + "'";
            case End e -> "the end";
        };
    }
}
