package io.bpf4j.trace.internal.demangle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads template arguments, and the expressions in arguments and types: {@code decltype (declval<int>() + 1)}. Operands
 * are written in parentheses, as c++filt of binutils writes them.
 *
 * <p><i>Confined.</i>
 *
 * <p>Tested by {@code DemanglerTest}.
 */
final class CppExpression {
    /** Operators by their codes, for the names of functions and for expressions. */
    static final Map<String, String> OPERATORS = Map.ofEntries(
            Map.entry("nw", "new"),
            Map.entry("na", "new[]"),
            Map.entry("dl", "delete"),
            Map.entry("da", "delete[]"),
            Map.entry("aw", "co_await "),
            Map.entry("ps", "+"),
            Map.entry("ng", "-"),
            Map.entry("ad", "&"),
            Map.entry("de", "*"),
            Map.entry("co", "~"),
            Map.entry("pl", "+"),
            Map.entry("mi", "-"),
            Map.entry("ml", "*"),
            Map.entry("dv", "/"),
            Map.entry("rm", "%"),
            Map.entry("an", "&"),
            Map.entry("or", "|"),
            Map.entry("eo", "^"),
            Map.entry("aS", "="),
            Map.entry("pL", "+="),
            Map.entry("mI", "-="),
            Map.entry("mL", "*="),
            Map.entry("dV", "/="),
            Map.entry("rM", "%="),
            Map.entry("aN", "&="),
            Map.entry("oR", "|="),
            Map.entry("eO", "^="),
            Map.entry("ls", "<<"),
            Map.entry("rs", ">>"),
            Map.entry("lS", "<<="),
            Map.entry("rS", ">>="),
            Map.entry("eq", "=="),
            Map.entry("ne", "!="),
            Map.entry("lt", "<"),
            Map.entry("gt", ">"),
            Map.entry("le", "<="),
            Map.entry("ge", ">="),
            Map.entry("ss", "<=>"),
            Map.entry("nt", "!"),
            Map.entry("aa", "&&"),
            Map.entry("oo", "||"),
            Map.entry("pp", "++"),
            Map.entry("mm", "--"),
            Map.entry("cm", ","),
            Map.entry("pm", "->*"),
            Map.entry("pt", "->"),
            Map.entry("cl", "()"),
            Map.entry("ix", "[]"),
            Map.entry("qu", "?"));

    private static final Set<String> UNARY = Set.of("ps", "ng", "ad", "de", "co", "nt", "aw");
    /** Operators that {@link #operation} does not read: they have another form, or are not supported. */
    private static final Set<String> NOT_READ_HERE = Set.of("nw", "na", "dl", "da", "cl", "ix", "qu", "pp", "mm");

    private final CppSymbol symbol;
    private final Cursor in;

    CppExpression(CppSymbol symbol, Cursor in) {
        this.symbol = symbol;
        this.in = in;
    }

    Node templateArgument() throws MalformedSymbolException {
        return switch (in.peek()) {
            case 'L' -> literal();
            case 'X' -> {
                in.next();
                Node expression = expression();
                in.expect("E");
                yield expression;
            }
            case 'J' -> {
                in.enter();
                in.next();
                List<Node> elements = new ArrayList<>();
                while (!in.skip("E")) {
                    elements.add(templateArgument());
                }
                in.leave();
                yield new Node.Pack(elements);
            }
            default -> symbol.type();
        };
    }

    Node expression() throws MalformedSymbolException {
        in.enter();
        Node expression = read();
        in.leave();
        return expression;
    }

    private Node read() throws MalformedSymbolException {
        char c = in.peek();
        if (c == 'L') {
            return literal();
        }
        if (c == 'T') {
            return symbol.templateParameter();
        }
        if (Cursor.isDigit(c)) {
            return symbol.expressionName();
        }
        if (in.skip("fpT")) {
            return new Node.Word("this");
        }
        if (c == 'f' && (in.peek(1) == 'p' || (in.peek(1) == 'L' && Cursor.isDigit(in.peek(2))))) {
            return functionParameter();
        }
        String code = in.takeAtMost(2);
        return switch (code) {
            case "sr" -> scoped();
            case "on" -> symbol.expressionName();
            case "gs" -> sequence("::", expression());
            case "st" -> sequence("sizeof (", symbol.type(), ")");
            case "sz" -> sequence("sizeof ", new Node.Operand(expression()));
            case "at" -> sequence("alignof (", symbol.type(), ")");
            case "az" -> sequence("alignof ", new Node.Operand(expression()));
            case "nx" -> sequence("noexcept", new Node.Operand(expression()));
            case "sZ" -> sequence("sizeof...(", expression(), ")");
            case "sp" -> new Node.Expansion(expression());
            case "cl" -> {
                Node function = expression();
                yield new Node.Sequence(
                        new Node.Operand(function), new Node.Word("("), listUntilEnd(), new Node.Word(")"));
            }
            case "cv" -> {
                Node type = symbol.type();
                if (in.skip("_")) {
                    yield new Node.Sequence(
                            new Node.Word("("), type, new Node.Word(")("), listUntilEnd(), new Node.Word(")"));
                }
                yield new Node.Sequence(new Node.Word("("), type, new Node.Word(")"), new Node.Operand(expression()));
            }
            case "sc", "dc", "rc", "cc" -> {
                String cast = Map.of("sc", "static", "dc", "dynamic", "rc", "reinterpret", "cc", "const")
                        .getOrDefault(code, "");
                Node type = symbol.type();
                yield new Node.Sequence(
                        new Node.Word(cast + "_cast<"), type, new Node.Word(">("), expression(), new Node.Word(")"));
            }
            case "tl" -> {
                Node type = symbol.type();
                yield new Node.Sequence(type, new Node.Word("{"), listUntilEnd(), new Node.Word("}"));
            }
            case "il" -> sequence("{", listUntilEnd(), "}");
            case "dt", "pt" -> {
                Node object = expression();
                Node member = expression();
                yield new Node.Sequence(
                        new Node.Operand(object), new Node.Word(code.equals("dt") ? "." : "->"), member);
            }
            case "ix" -> {
                Node array = new Node.Operand(expression());
                yield new Node.Sequence(array, new Node.Word("["), expression(), new Node.Word("]"));
            }
            case "qu" -> {
                Node condition = new Node.Operand(expression());
                Node then = new Node.Operand(expression());
                Node otherwise = new Node.Operand(expression());
                yield new Node.Sequence(condition, new Node.Word("?"), then, new Node.Word(" : "), otherwise);
            }
            default -> operation(code);
        };
    }

    private Node operation(String code) throws MalformedSymbolException {
        String sign = OPERATORS.get(code);
        if (sign == null || NOT_READ_HERE.contains(code)) {
            throw new MalformedSymbolException();
        }
        if (UNARY.contains(code)) {
            Node operand = expression();
            if (code.equals("ad")
                    && operand instanceof Node.Function function
                    && function.name() instanceof Node.Scoped) {
                // The address of a member is written without its parameters.
                return sequence(sign, function.name());
            }
            return sequence(sign, new Node.Operand(operand));
        }
        Node left = new Node.Operand(expression());
        Node right = new Node.Operand(expression());
        Node whole = new Node.Sequence(left, new Node.Word(sign), right);
        return code.equals("gt") ? new Node.Operand(whole) : whole;
    }

    /**
     * Reads a member of a dependent type, {@code T::value}: the scope, and the name. A scope that consists of names
     * rather than a type ends with E, which older compilers omit.
     */
    private Node scoped() throws MalformedSymbolException {
        boolean levels = in.skip("N");
        if (!levels && !in.atDigit()) {
            Node scope = symbol.type();
            return new Node.Scoped(scope, memberName());
        }
        Node scope = levels ? symbol.type() : symbol.expressionName();
        while (in.atDigit()) {
            scope = new Node.Scoped(scope, symbol.expressionName());
        }
        boolean ended = in.peek() == 'E' && (levels || Cursor.isDigit(in.peek(1)) || in.peek(1) == 'o');
        return ended && in.skip("E") ? new Node.Scoped(scope, memberName()) : scope;
    }

    private Node memberName() throws MalformedSymbolException {
        in.skip("on");
        return symbol.expressionName();
    }

    /**
     * {@code fp_} is the function's first parameter, {@code fp0_} its second, {@code fL0p_} that of an outer function.
     */
    private Node functionParameter() throws MalformedSymbolException {
        in.next();
        if (in.next() == 'L') {
            in.number();
            in.expect("p");
        }
        in.skip("r");
        in.skip("V");
        in.skip("K");
        int number = 1;
        if (!in.skip("_")) {
            number = in.number() + 2;
            in.expect("_");
        }
        return new Node.Word("{parm#" + number + "}");
    }

    private Node listUntilEnd() throws MalformedSymbolException {
        List<Node> nodes = new ArrayList<>();
        while (!in.skip("E")) {
            nodes.add(expression());
        }
        return new Node.Listed(nodes);
    }

    private Node literal() throws MalformedSymbolException {
        in.expect("L");
        if (in.skip("_Z") || in.skip("Z")) {
            Node entity = symbol.encoding(true, true);
            in.expect("E");
            return entity;
        }
        char code = in.peek();
        Node type = symbol.type();
        StringBuilder value = new StringBuilder();
        while (!in.skip("E")) {
            char c = in.next();
            value.append(c == 'n' && value.isEmpty() ? '-' : c);
        }
        String suffix = Map.of('i', "", 'j', "u", 'l', "l", 'm', "ul", 'x', "ll", 'y', "ull")
                .get(code);
        if (suffix != null && !value.isEmpty()) {
            return new Literal(value + suffix);
        }
        if (code == 'b' && value.toString().equals("0")) {
            return new Literal("false");
        }
        if (code == 'b' && value.toString().equals("1")) {
            return new Literal("true");
        }
        String text = "fde".indexOf(code) >= 0 ? "[" + value + "]" : value.toString();
        return new Node.Sequence(new Node.Word("("), type, new Node.Word(")" + text));
    }

    /** A literal value. Unlike a name, it is put in parentheses as an operand. */
    private static final class Literal extends Node {
        private final String text;

        Literal(String text) {
            this.text = text;
        }

        @Override
        void left(Output out) throws MalformedSymbolException {
            out.text(text);
        }
    }

    private static Node sequence(String before, Node node) throws MalformedSymbolException {
        return new Node.Sequence(new Node.Word(before), node);
    }

    private static Node sequence(String before, Node node, String after) throws MalformedSymbolException {
        return new Node.Sequence(new Node.Word(before), node, new Node.Word(after));
    }
}
