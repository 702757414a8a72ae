package io.bpf4j.trace.expression;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/**
 * A parsed expression: {@code arg0 > 50 && comm ~ "java*"}. <i>Immutable.</i>
 *
 * <p>The meaning of its names, and so its type, depend on the probes that it is evaluated for: see {@link
 * GeneratedFunction}. The operators are C's, with C's precedence. Numbers have 64 bits.
 *
 * <ul>
 *   <li>Names: {@code pid tid comm cpu uid cgroup nsecs probe provider}, {@code retval} where functions return, {@code
 *       true false}, {@code arg0} to {@code arg11} for the arguments, and the names that the {@link Scope} knows. At
 *       the end of a pair, {@code begin.} before a name means its value at the begin: see {@link BeginValues}.
 *   <li>Numbers: {@code 50}, {@code 0xff}, {@code 'a'}; a time in nanoseconds, {@code 1.5ms}, and a size in bytes,
 *       {@code 4KiB}. The units are ns, us, ms, s, m, h, and B, KB, MB, GB, KiB, MiB, GiB.
 *   <li>Operators, from the tightest-binding: {@code - ~ ! *} and casts such as {@code (u32)}; {@code * / %}; {@code +
 *       -}; {@code << >>}; {@code < > <= >=}; {@code == != ~ !~}; {@code &}; {@code ^}; {@code |}; {@code &&}; {@code
 *       ||}; {@code ?:}.
 *   <li>Memory of the process: {@code *(u64*)(arg1 + 8)}.
 *   <li>Text: {@code "…"} with C's escapes; {@code str(p)}, the text at an address up to NUL, of which at most 64 bytes
 *       are read; {@code str(p, 16)}, of which at most 16 are read; {@code str(p, n)}, n bytes, but at most 64; {@code
 *       str(p, n, 100)}, n bytes, but at most 100.
 *   <li>Patterns: {@code text ~ "SELECT*"}. {@code *} stands for any bytes, {@code ?} for one byte, {@code [a-z]} for
 *       one of a range, {@code [!x]} for any byte but x, {@code {a,b*}} for what one of the patterns matches. After a backslash, which is doubled in the text, a character
 *       stands for itself.
 * </ul>
 *
 * <p>A narrower operand is extended to 64 bits, by its own sign. An operation is unsigned if an operand is an unsigned
 * number of 64 bits, else signed. A shift is unsigned if its left operand is; its count is taken modulo 64. {@code x /
 * 0} is 0 and {@code x % 0} is x. {@code &&}, {@code ||} and {@code ?:} evaluate only the operands that they need. If
 * an argument or memory can't be read, the whole expression has no value.
 *
 * <p>A comparison of text uses the first 128 bytes in a filter, the first 64 in a key or a value, and half of that if
 * two texts of the process are compared. Longer text is compared as if it ended there. So a pattern that ends in
 * {@code *} matches text of any length.
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
            case Syntax.Unary(int _, String operator, Syntax.Numeral(int _, long value, Type.Int _))
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
