package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.expression.ExpressionException;
import io.bpf4j.trace.expression.ValueType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Predicate;

/**
 * A parsed expression. {@code io.bpf4j.trace.expression} describes the language. <i>Immutable.</i>
 *
 * <p>The meaning of its names, and so its type, depend on the probes that it is evaluated for: see {@link
 * GeneratedFunction}.
 */
public final class Expression {
    private final String text;
    private final Syntax tree;

    private Expression(String text, Syntax tree) {
        this.text = text;
        this.tree = tree;
    }

    /**
     * Reads an expression.
     *
     * @throws ExpressionException if the text is not an expression, is longer than 8,192 characters, is nested more
     *     than 64 levels deep, or has more than 1,000 operators and operands
     */
    public static Expression parse(String text) {
        return new Expression(text, Parser.parse(text));
    }

    /**
     * The texts of a list of expressions, split at the commas that are not in parentheses or quotes.
     *
     * @throws ExpressionException if a character can't begin a token
     */
    public static List<String> split(String list) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int start = 0;
        for (Token token : Lexer.tokens(list)) {
            if (token instanceof Token.Symbol(int at, String symbol)) {
                depth += symbol.equals("(") ? 1 : symbol.equals(")") ? -1 : 0;
                if (depth == 0 && symbol.equals(",")) {
                    parts.add(list.substring(start, at).strip());
                    start = at + 1;
                }
            }
        }
        parts.add(list.substring(start).strip());
        return parts;
    }

    /** The value, if the expression is a number, perhaps with a sign and a unit: {@code -50ms}. */
    public OptionalLong constant() {
        return switch (tree) {
            case Syntax.Numeral number -> OptionalLong.of(number.value());
            case Syntax.Unary(int _, String operator, Syntax.Numeral(int _, long value, ValueType.Int _))
            when operator.equals("-") -> OptionalLong.of(-value);
            default -> OptionalLong.empty();
        };
    }

    /** The literal texts of the expression, in no order. */
    public Set<String> texts() {
        Set<String> texts = new HashSet<>();
        addTexts(tree, texts);
        return texts;
    }

    private static void addTexts(Syntax part, Set<String> texts) {
        if (part instanceof Syntax.Text(int _, Bytes bytes)) {
            texts.add(bytes.toString());
        }
        part.parts().forEach(each -> addTexts(each, texts));
    }

    /**
     * Refuses a filter by the name of a unit, container or pod, whatever the probes are: the kernel does not know it.
     * This can be told before any probe is looked for.
     *
     * @param isArgument whether an argument of a probe has a name; the argument is meant then
     * @throws ExpressionException if the expression can't be a filter
     */
    public void requireFilter(Predicate<String> isArgument) {
        requireFilter(tree, isArgument);
    }

    private void requireFilter(Syntax part, Predicate<String> isArgument) {
        if (part instanceof Syntax.Name name) {
            Names.group(name.name()).filter(_ -> !isArgument.test(name.name())).ifPresent(group -> {
                throw new ExpressionException(text, name.at(), Texts.NOT_IN_KERNEL.formatted(group));
            });
        }
        part.parts().forEach(each -> requireFilter(each, isArgument));
    }

    /** The largest parts whose names all start with {@code begin.}, each as an expression with the whole text. */
    List<Expression> partsOfBegin() {
        List<Expression> parts = new ArrayList<>();
        addPartsOfBegin(tree, parts);
        return parts;
    }

    private void addPartsOfBegin(Syntax part, List<Expression> parts) {
        if (part.isOfBegin()) {
            parts.add(new Expression(text, part));
        } else {
            part.parts().forEach(each -> addPartsOfBegin(each, parts));
        }
    }

    /** The text that was parsed. */
    public String text() {
        return text;
    }

    Syntax tree() {
        return tree;
    }

    @Override
    public String toString() {
        return text;
    }
}
