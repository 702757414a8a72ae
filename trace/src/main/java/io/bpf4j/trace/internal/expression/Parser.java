package io.bpf4j.trace.internal.expression;

import io.bpf4j.trace.expression.ExpressionException;
import io.bpf4j.trace.expression.ValueType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Parses tokens to a tree by recursive descent, and binary operators by climbing C's levels of precedence.
 * <i>Confined.</i>
 *
 * <p>The text comes from a user, or from another person if a tool passes it on. So nesting is bounded, which bounds the
 * recursion, and so is the number of nodes, which bounds the work of all later steps.
 *
 * <p>Tested by {@code ExpressionTest}.
 */
final class Parser {
    /** Characters of a text. Bounds the number of tokens. */
    static final int MAX_LENGTH = 8_192;

    static final int MAX_NODES = 1_000;
    static final int MAX_DEPTH = 64;

    /** Binary operators, from the loosest-binding to the tightest. A pattern binds like {@code ==}. */
    static final List<Set<String>> LEVELS = List.of(
            Set.of("||"),
            Set.of("&&"),
            Set.of("|"),
            Set.of("^"),
            Set.of("&"),
            Set.of("==", "!=", "~", "!~"),
            Set.of("<", ">", "<=", ">="),
            Set.of("<<", ">>"),
            Set.of("+", "-"),
            Set.of("*", "/", "%"));

    private static final Set<String> UNARY = Set.of("-", "~", "!", "*");

    /** The names of the kernel, of stdint.h, of bpftrace ({@code uint32}) and of Rust ({@code i32}). */
    private static final Map<String, ValueType.Int> TYPES = Stream.of(1, 2, 4, 8)
            .flatMap(size -> Stream.of(true, false).map(signed -> new ValueType.Int(size, signed)))
            .flatMap(type -> namesOf(type).map(name -> Map.entry(name, type)))
            .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));

    /** The size of C's types on 64-bit Linux; {@code char} is signed. */
    private static final Map<String, Integer> C_TYPES = Map.of("char", 1, "short", 2, "int", 4, "long", 8);

    private final String text;
    private final List<Token> tokens;
    private int next;
    private int nodes;
    private int depth;

    private static Stream<String> namesOf(ValueType.Int type) {
        String name = (type.signed() ? "int" : "uint") + 8 * type.size();
        return Stream.of(type.toString(), name, name + "_t", (type.signed() ? "i" : "u") + 8 * type.size())
                .distinct();
    }

    private Parser(String text) {
        this.text = text;
        this.tokens = Lexer.tokens(text);
    }

    static Syntax parse(String text) {
        if (text.length() > MAX_LENGTH) {
            throw new ExpressionException(text, MAX_LENGTH, "longer than " + MAX_LENGTH + " characters");
        }
        Parser parser = new Parser(text);
        Syntax tree = parser.conditional();
        if (!(parser.peek() instanceof Token.End)) {
            parser.refuseUnknownType(1);
            throw parser.error("expected an operator, found " + parser.peek().described());
        }
        return tree;
    }

    private Syntax conditional() {
        Syntax condition = binary(0);
        int at = peek().at();
        if (!take("?")) {
            return condition;
        }
        enter(at);
        Syntax then = conditional();
        expect(":");
        Syntax otherwise = conditional();
        depth--;
        return node(new Syntax.Conditional(at, condition, then, otherwise));
    }

    private Syntax binary(int level) {
        if (level == LEVELS.size()) {
            return unary();
        }
        Syntax left = binary(level + 1);
        while (peek() instanceof Token.Symbol(int at, String symbol)
                && LEVELS.get(level).contains(symbol)) {
            next++;
            left = node(new Syntax.Binary(at, symbol, left, binary(level + 1)));
        }
        return left;
    }

    private Syntax unary() {
        Token token = peek();
        enter(token.at());
        try {
            if (token instanceof Token.Symbol(int at, String symbol) && UNARY.contains(symbol)) {
                next++;
                return node(new Syntax.Unary(at, symbol, unary()));
            }
            if (token.isSymbol("!~")) { // two unary operators
                next++;
                return node(new Syntax.Unary(token.at(), "!", node(new Syntax.Unary(token.at() + 1, "~", unary()))));
            }
            if (token.isSymbol("(")) {
                next++;
                Optional<ValueType.Int> type = type();
                if (type.isPresent()) {
                    boolean pointer = take("*");
                    expect(")");
                    Syntax operand = unary();
                    return node(
                            pointer
                                    ? new Syntax.PointerCast(token.at(), type.get(), operand)
                                    : new Syntax.Cast(token.at(), type.get(), operand));
                }
                Syntax inner = conditional();
                expect(")");
                return inner;
            }
            return primary(token);
        } finally {
            depth--;
        }
    }

    private Syntax primary(Token token) {
        switch (token) {
            case Token.Numeral(int at, long value, ValueType.Int type) -> {
                next++;
                return node(new Syntax.Numeral(at, value, type));
            }
            case Token.Text(int at, Bytes bytes) -> {
                next++;
                return node(new Syntax.Text(at, bytes));
            }
            case Token.Word(int at, String word) -> {
                next++;
                if (take("(")) {
                    return call(at, word);
                }
                if (word.startsWith(Lexer.BEGIN)) {
                    return node(new Syntax.Name(at, word.substring(Lexer.BEGIN.length()), true));
                }
                return node(
                        word.equals("true") || word.equals("false")
                                ? new Syntax.Truth(at, word.equals("true"))
                                : new Syntax.Name(at, word, false));
            }
            case Token.Symbol _, Token.End _ -> {
                refuseUnknownType(0);
                throw error("expected a name, a number or '(', found " + token.described());
            }
        }
    }

    private Syntax call(int at, String function) {
        List<Syntax> arguments = new ArrayList<>();
        if (!take(")")) {
            do {
                arguments.add(conditional());
            } while (take(","));
            expect(")");
        }
        return node(new Syntax.Call(at, function, List.copyOf(arguments)));
    }

    /** {@code u32}, or C's names: {@code unsigned}, {@code unsigned long}, {@code long long int}. */
    private Optional<ValueType.Int> type() {
        if (!(peek() instanceof Token.Word(int _, String first))) {
            return Optional.empty();
        }
        if (TYPES.containsKey(first)) {
            next++;
            return Optional.of(TYPES.get(first));
        }
        boolean unsigned = takeWord("unsigned");
        boolean hasSignedness = unsigned || takeWord("signed");
        int size = 0;
        while (peek() instanceof Token.Word(int at, String word) && C_TYPES.containsKey(word)) {
            int wordSize = C_TYPES.get(word);
            boolean fits = size == 0 || (size == 8 && wordSize >= 4) || (size == 2 && wordSize == 4);
            if (!fits) {
                throw new ExpressionException(text, at, "C has no such type");
            }
            size = size == 0 ? wordSize : size;
            next++;
        }
        return size == 0 && !hasSignedness
                ? Optional.empty()
                : Optional.of(new ValueType.Int(size == 0 ? 4 : size, !unsigned));
    }

    /**
     * Where a text is no expression: a name in parentheses, or a name and a star, may have been meant as a type.
     *
     * @param ahead how many tokens lie between the name, or the star after it, and what is read next
     */
    private void refuseUnknownType(int ahead) {
        int last = next - 1 - ahead;
        boolean pointer = ahead == 0;
        int name = pointer ? last - 1 : last;
        if (name < 1
                || (pointer && !(tokens.get(last).isSymbol("*") && peek().isSymbol(")")))
                || (!pointer && !tokens.get(next - 1).isSymbol(")"))
                || !tokens.get(name - 1).isSymbol("(")
                || (name > 1 && tokens.get(name - 2) instanceof Token.Word)) { // the argument of a function
            return;
        }
        if (tokens.get(name) instanceof Token.Word(int at, String word)) {
            throw new ExpressionException(
                    text,
                    at,
                    "'" + word + "' is not a type; these are u8 to u64 and s8 to s64, and C's, such as uint8_t and"
                            + " unsigned int");
        }
    }

    private Token peek() {
        return tokens.get(next);
    }

    private boolean take(String symbol) {
        boolean found = peek().isSymbol(symbol);
        next += found ? 1 : 0;
        return found;
    }

    private boolean takeWord(String wanted) {
        boolean found = peek() instanceof Token.Word(int _, String word) && word.equals(wanted);
        next += found ? 1 : 0;
        return found;
    }

    private void expect(String symbol) {
        if (!take(symbol)) {
            throw error("expected '" + symbol + "', found " + peek().described());
        }
    }

    private void enter(int at) {
        if (++depth > MAX_DEPTH) {
            throw new ExpressionException(text, at, "nested more than " + MAX_DEPTH + " levels deep");
        }
    }

    private Syntax node(Syntax node) {
        if (++nodes > MAX_NODES) {
            throw new ExpressionException(text, node.at(), "more than " + MAX_NODES + " operators and operands");
        }
        return node;
    }

    private ExpressionException error(String reason) {
        return new ExpressionException(text, peek().at(), reason);
    }
}
