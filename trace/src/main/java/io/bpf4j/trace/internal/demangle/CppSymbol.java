package io.bpf4j.trace.internal.demangle;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the symbol of a C++ function or object: the Itanium C++ ABI, section 5.1, "External Names (a.k.a. Mangling)".
 * The methods have the names of the rules there.
 *
 * <p>Two things make the encoding more than a list of prefixes:
 *
 * <ul>
 *   <li>Substitutions. Every scope, template and type gets a number once it was read, and {@code S_}, {@code S0_} …
 *       repeat it. The hard part of the rules is which of them get a number, and when.
 *   <li>Template parameters. {@code T_}, {@code T0_} … stand for the arguments of the function's own template, which
 *       are the last template arguments in its name.
 * </ul>
 *
 * <p>This class reads names and types; {@link CppExpression} reads template arguments and expressions. It is long
 * because the rules are one grammar: names contain types and types contain names, and all share the list of
 * substitutions. Names are written as c++filt of binutils writes them.
 *
 * <p><i>Confined.</i>
 *
 * <p>Tested by {@code DemanglerTest} and {@code DemanglerOnLibrariesTest}.
 */
final class CppSymbol {
    private static final String ANONYMOUS = "_GLOBAL__N";

    private static final Map<Character, String> BUILTIN = Map.ofEntries(
            Map.entry('v', "void"),
            Map.entry('w', "wchar_t"),
            Map.entry('b', "bool"),
            Map.entry('c', "char"),
            Map.entry('a', "signed char"),
            Map.entry('h', "unsigned char"),
            Map.entry('s', "short"),
            Map.entry('t', "unsigned short"),
            Map.entry('i', "int"),
            Map.entry('j', "unsigned int"),
            Map.entry('l', "long"),
            Map.entry('m', "unsigned long"),
            Map.entry('x', "long long"),
            Map.entry('y', "unsigned long long"),
            Map.entry('n', "__int128"),
            Map.entry('o', "unsigned __int128"),
            Map.entry('f', "float"),
            Map.entry('d', "double"),
            Map.entry('e', "long double"),
            Map.entry('g', "__float128"),
            Map.entry('z', "..."));

    /** Builtin types whose code is D and a second letter, by that letter. */
    private static final Map<Character, String> BUILTIN_D = Map.of(
            'd', "decimal64",
            'e', "decimal128",
            'f', "decimal32",
            'h', "half",
            'i', "char32_t",
            's', "char16_t",
            'u', "char8_t",
            'a', "auto",
            'c', "decltype(auto)",
            'n', "decltype(nullptr)");

    /** Abbreviated classes of the standard library, by the letter after S: the class, and its constructor's name. */
    private static final Map<Character, Node.Word> STANDARD = Map.of(
            'a', new Node.Word("std::allocator", "allocator"),
            'b', new Node.Word("std::basic_string", "basic_string"),
            's', standard("basic_string", ", std::allocator<char>"),
            'i', standard("basic_istream", ""),
            'o', standard("basic_ostream", ""),
            'd', standard("basic_iostream", ""));

    private static final Map<String, String> SPECIAL = Map.of(
            "TV", "vtable for ",
            "TT", "VTT for ",
            "TI", "typeinfo for ",
            "TS", "typeinfo name for ",
            "TF", "typeinfo fn for ",
            "TH", "TLS init function for ",
            "TW", "TLS wrapper function for ",
            "GV", "guard variable for ",
            "GA", "hidden alias for ");

    private final Cursor in;
    private final CppExpression expressions;
    private final List<Node> substitutions = new ArrayList<>();
    /**
     * The substitutions that are template parameters: the number of the substitution, and of the parameter. Such a
     * substitution stands for the argument that the parameter has where it is repeated.
     */
    private final Map<Integer, Integer> parameters = new HashMap<>();

    private final List<Node.Forward> forwards = new ArrayList<>();
    private List<Node> templateArguments = List.of();
    /** Above 0 inside the parameters of a lambda. There a template parameter is a parameter declared as auto. */
    private int lambdas;
    /** Above 0 inside the type of a conversion operator. Its template arguments come later in the symbol. */
    private int conversions;

    /** The properties of a function's name on which the rest of its symbol depends, and its qualifiers. */
    private static final class NameState {
        private boolean withoutResult;
        private boolean endsWithArguments;
        private String qualifiers = "";
    }

    private CppSymbol(String symbol) {
        in = new Cursor(symbol, 2);
        expressions = new CppExpression(this, in);
    }

    private static Node.Word standard(String base, String more) {
        return new Node.Word("std::" + base + "<char, std::char_traits<char>" + more + " >", base);
    }

    static String demangle(String symbol, boolean parameters) throws MalformedSymbolException {
        CppSymbol reader = new CppSymbol(symbol);
        Node name = reader.encoding(parameters, true);
        Output out = new Output();
        out.print(name);
        if (!parameters) {
            return out.toString();
        }
        while (!reader.in.atEnd()) {
            out.text(" [clone ").text(reader.cloneSuffix()).text("]");
        }
        return out.toString();
    }

    /**
     * Reads a suffix that a compiler adds to a part or a copy of a function: {@code .cold}, {@code .isra.0}, {@code
     * .7}. A regular expression would call itself for each number, of which a hostile symbol has thousands.
     */
    private String cloneSuffix() throws MalformedSymbolException {
        int start = in.at();
        in.expect(".");
        int word = in.at();
        while ((in.peek() >= 'a' && in.peek() <= 'z') || in.peek() == '_') {
            in.next();
        }
        if (in.at() == word) {
            digits();
        }
        while (in.peek() == '.' && Cursor.isDigit(in.peek(1))) {
            in.next();
            digits();
        }
        return in.since(start);
    }

    private void digits() throws MalformedSymbolException {
        if (!in.atDigit()) {
            throw new MalformedSymbolException();
        }
        while (in.atDigit()) {
            in.next();
        }
    }

    // Encodings: a whole function or object.

    /**
     * A function or an object.
     *
     * @param parameters whether to read the parameters after the name
     * @param result whether to write the type of the result, if the symbol has it; that of an enclosing function is not
     *     written
     */
    Node encoding(boolean parameters, boolean result) throws MalformedSymbolException {
        in.enter();
        if (in.peek() == 'T' || (in.peek() == 'G' && in.peek(1) != 'L')) {
            Node special = specialName();
            in.leave();
            return special;
        }
        List<Node> outerArguments = templateArguments;
        int outerLambdas = lambdas;
        lambdas = 0;
        templateArguments = List.of();
        int firstForward = forwards.size();
        NameState state = new NameState();
        Node name = name(state);
        for (Node.Forward forward : forwards.subList(firstForward, forwards.size())) {
            forward.resolve(templateArguments);
        }
        forwards.subList(firstForward, forwards.size()).clear();
        Node whole = name;
        if (!parameters) {
            in.leave();
            return name;
        }
        if (!in.atEnd() && in.peek() != 'E' && in.peek() != '.') {
            boolean hasResult = state.endsWithArguments && !state.withoutResult;
            Node type = hasResult ? type() : null;
            whole = new Node.Function(name, result ? type : null, parameters(), state.qualifiers);
        }
        templateArguments = outerArguments;
        lambdas = outerLambdas;
        in.leave();
        return whole;
    }

    private List<Node> parameters() throws MalformedSymbolException {
        List<Node> types = new ArrayList<>();
        if (in.peek() == 'v' && isEndOfParameters(in.peek(1))) {
            in.next();
            return types;
        }
        while (!isEndOfParameters(in.peek())) {
            // R or O right before the end of a function type is its ref-qualifier, not a type.
            if ((in.peek() == 'R' || in.peek() == 'O') && in.peek(1) == 'E') {
                break;
            }
            types.add(type());
        }
        if (types.isEmpty()) {
            throw new MalformedSymbolException();
        }
        return types;
    }

    private static boolean isEndOfParameters(char c) {
        return c == 0 || c == 'E' || c == '.';
    }

    private Node specialName() throws MalformedSymbolException {
        String kind = in.takeAtMost(2);
        String prefix = SPECIAL.get(kind);
        return switch (kind) {
            case "TV", "TT", "TI", "TS", "TF" -> words(prefix, type());
            case "TH", "TW", "GV" -> words(prefix, name(new NameState()));
            case "GA" -> words(prefix, encoding(true, true));
            case "TC" -> {
                Node derived = type();
                offset();
                in.expect("_");
                yield new Node.Sequence(
                        new Node.Word("construction vtable for "), type(), new Node.Word("-in-"), derived);
            }
            case "Th" -> {
                callOffset('h');
                yield words("non-virtual thunk to ", encoding(true, true));
            }
            case "Tv" -> {
                callOffset('v');
                yield words("virtual thunk to ", encoding(true, true));
            }
            case "Tc" -> {
                callOffset(in.next());
                callOffset(in.next());
                yield words("covariant return thunk to ", encoding(true, true));
            }
            case "TA" -> words("template parameter object for ", expressions.templateArgument());
            case "GR" -> {
                Node name = name(new NameState());
                int number = in.atEnd() || in.skip("_") ? 0 : base36() + 1;
                yield words("reference temporary #" + number + " for ", name);
            }
            case "GT" -> {
                String text = in.next() == 'n' ? "non-transaction clone for " : "transaction clone for ";
                yield words(text, encoding(true, true));
            }
            default -> throw new MalformedSymbolException();
        };
    }

    private static Node words(@Nullable String prefix, Node node) throws MalformedSymbolException {
        return new Node.Sequence(new Node.Word(String.valueOf(prefix)), node);
    }

    private void offset() throws MalformedSymbolException {
        in.skip("n");
        in.number();
    }

    private void callOffset(char kind) throws MalformedSymbolException {
        offset();
        in.expect("_");
        if (kind == 'v') {
            offset();
            in.expect("_");
        } else if (kind != 'h') {
            throw new MalformedSymbolException();
        }
    }

    // Names.

    private Node name(NameState state) throws MalformedSymbolException {
        in.enter();
        Node name = switch (in.peek()) {
            case 'N' -> nestedName(state);
            case 'Z' -> localName(state);
            default -> unscopedName(state);
        };
        in.leave();
        return name;
    }

    private Node unscopedName(NameState state) throws MalformedSymbolException {
        Node name;
        if (in.peek() == 'S' && in.peek(1) != 't') {
            name = substitution();
            if (in.peek() != 'I') {
                return name;
            }
        } else {
            boolean standard = in.skip("St");
            name = unqualifiedName(state, null);
            name = standard ? new Node.Scoped(new Node.Word("std"), name) : name;
            if (in.peek() != 'I') {
                return name;
            }
            substitutions.add(name);
        }
        state.endsWithArguments = true;
        return new Node.Template(name, ownTemplateArguments());
    }

    private Node nestedName(NameState state) throws MalformedSymbolException {
        in.expect("N");
        state.qualifiers = qualifiers();
        if (in.skip("R")) {
            state.qualifiers += " &";
        } else if (in.skip("O")) {
            state.qualifiers += " &&";
        }
        Node soFar = null;
        boolean added = false;
        while (!in.skip("E")) {
            in.skip("L"); // a static variable, whose initializer has a lambda
            char c = in.peek();
            if (c == 'M' && soFar != null) {
                in.next(); // the lambda that follows is in the initializer of the member before
                continue;
            }
            state.endsWithArguments = false;
            added = true;
            if (c == 'T') {
                soFar = templateParameter();
            } else if (c == 'I') {
                if (soFar == null) {
                    throw new MalformedSymbolException();
                }
                soFar = new Node.Template(soFar, ownTemplateArguments());
                state.endsWithArguments = true;
            } else if (c == 'D' && (in.peek(1) == 't' || in.peek(1) == 'T')) {
                soFar = decltype();
            } else if (c == 'S' && in.peek(1) == 't') {
                in.skip("St");
                soFar = new Node.Word("std");
                added = false;
                continue;
            } else if (c == 'S') {
                soFar = substitution();
                added = false;
                continue;
            } else {
                Node part = unqualifiedName(state, soFar);
                soFar = soFar == null ? part : new Node.Scoped(soFar, part);
            }
            substitutions.add(soFar);
        }
        if (soFar == null) {
            throw new MalformedSymbolException();
        }
        // The whole name is not a prefix and gets no number here. If it is a type, readType gives it one.
        if (added) {
            substitutions.removeLast();
        }
        return soFar;
    }

    private Node localName(NameState state) throws MalformedSymbolException {
        in.expect("Z");
        Node function = encoding(true, false);
        in.expect("E");
        if (in.skip("s")) {
            discriminator();
            return new Node.Scoped(function, new Node.Word("string literal"));
        }
        if (in.skip("d")) {
            int number = in.skip("_") ? 1 : in.number() + 2;
            if (number > 1) {
                in.expect("_");
            }
            Node argument = new Node.Word("{default arg#" + number + "}");
            return new Node.Scoped(function, new Node.Scoped(argument, name(state)));
        }
        Node entity = name(state);
        discriminator();
        return new Node.Scoped(function, entity);
    }

    /** Skips the number that distinguishes equal local names: {@code _3}, {@code __12_}. */
    private void discriminator() throws MalformedSymbolException {
        if (in.peek() == '_' && in.peek(1) == '_' && Cursor.isDigit(in.peek(2))) {
            in.skip("__");
            in.number();
            in.expect("_");
        } else if (in.peek() == '_' && Cursor.isDigit(in.peek(1))) {
            in.next();
            in.next();
        }
    }

    /** @param scope the enclosing scope, which names a constructor; null if there is none */
    private Node unqualifiedName(NameState state, @Nullable Node scope) throws MalformedSymbolException {
        in.skip("F"); // a friend that is defined in a class
        in.skip("L"); // internal linkage
        Node name;
        char c = in.peek();
        if (Cursor.isDigit(c)) {
            name = sourceName();
        } else if (c == 'U') {
            name = unnamedType();
        } else if (c == 'D' && in.peek(1) == 'C') {
            name = structuredBinding();
        } else if (c == 'C' || c == 'D') {
            name = constructor(state, scope);
        } else {
            name = operatorName(state);
        }
        return abiTags(name);
    }

    private Node abiTags(Node name) throws MalformedSymbolException {
        Node tagged = name;
        while (in.skip("B")) {
            tagged = new Node.Sequence(tagged, new Node.Word("[abi:"), sourceName(), new Node.Word("]"));
        }
        return tagged;
    }

    Node.Word sourceName() throws MalformedSymbolException {
        String name = in.take(in.number());
        return new Node.Word(name.startsWith(ANONYMOUS) ? "(anonymous namespace)" : name);
    }

    private Node structuredBinding() throws MalformedSymbolException {
        in.expect("DC");
        List<Node> names = new ArrayList<>();
        while (!in.skip("E")) {
            names.add(sourceName());
        }
        return new Node.Sequence(new Node.Word("["), new Node.Listed(names), new Node.Word("]"));
    }

    private Node constructor(NameState state, @Nullable Node scope) throws MalformedSymbolException {
        String destroyed = in.next() == 'D' ? "~" : "";
        boolean inherited = destroyed.isEmpty() && in.skip("I");
        if (!Cursor.isDigit(in.next()) || scope == null || scope.base().isEmpty()) {
            throw new MalformedSymbolException();
        }
        String base = scope.base();
        if (inherited) {
            type(); // the base class that declares the constructor
        }
        state.withoutResult = true;
        return new Node.Word(destroyed + base);
    }

    private Node unnamedType() throws MalformedSymbolException {
        in.expect("U");
        char kind = in.next();
        if (kind == 't') {
            return new Node.Word("{unnamed type#" + ordinal() + "}");
        }
        if (kind != 'l') {
            throw new MalformedSymbolException();
        }
        lambdas++;
        List<Node> parameters = parameters();
        lambdas--;
        in.expect("E");
        return new Node.Sequence(
                new Node.Word("{lambda("), new Node.Listed(parameters), new Node.Word(")#" + ordinal() + "}"));
    }

    /** Reads a number from 1: {@code _} is 1, {@code 0_} is 2. */
    private int ordinal() throws MalformedSymbolException {
        if (in.skip("_")) {
            return 1;
        }
        int number = in.number() + 2;
        in.expect("_");
        return number;
    }

    private Node operatorName(NameState state) throws MalformedSymbolException {
        if (in.skip("cv")) {
            state.withoutResult = true;
            conversions++;
            Node type = type();
            conversions--;
            return new Node.Sequence(new Node.Word("operator "), type);
        }
        if (in.skip("li")) {
            return new Node.Sequence(new Node.Word("operator\"\" "), sourceName());
        }
        if (in.peek() == 'v' && Cursor.isDigit(in.peek(1))) {
            in.next();
            in.next();
            return new Node.Sequence(new Node.Word("operator "), sourceName());
        }
        String sign = CppExpression.OPERATORS.get(in.takeAtMost(2));
        if (sign == null) {
            throw new MalformedSymbolException();
        }
        return new Node.Word("operator" + (Character.isLetter(sign.charAt(0)) ? " " : "") + sign);
    }

    // Substitutions and template parameters.

    private Node substitution() throws MalformedSymbolException {
        in.expect("S");
        Node standard = STANDARD.get(in.peek());
        if (standard != null) {
            in.next();
            if (in.peek() != 'B') {
                return standard;
            }
            Node tagged = abiTags(standard);
            substitutions.add(tagged);
            return tagged;
        }
        int index = in.skip("_") ? 0 : base36() + 1;
        if (index >= substitutions.size()) {
            throw new MalformedSymbolException();
        }
        int parameter = parameters.getOrDefault(index, -1);
        return parameter >= 0 && lambdas == 0 && parameter < templateArguments.size()
                ? templateArguments.get(parameter)
                : substitutions.get(index);
    }

    /** Reads a number in base 36, of digits and capital letters, and the underscore that ends it. */
    private int base36() throws MalformedSymbolException {
        int value = 0;
        while (!in.skip("_")) {
            char c = in.next();
            int digit = Cursor.isDigit(c) ? c - '0' : c >= 'A' && c <= 'Z' ? c - 'A' + 10 : -1;
            if (digit < 0 || value > 1 << 24) {
                throw new MalformedSymbolException();
            }
            value = value * 36 + digit;
        }
        return value;
    }

    Node templateParameter() throws MalformedSymbolException {
        return templateParameter(templateParameterIndex());
    }

    private int templateParameterIndex() throws MalformedSymbolException {
        in.expect("T");
        if (in.skip("L")) {
            in.number();
            in.expect("_");
        }
        if (in.skip("_")) {
            return 0;
        }
        int index = in.number() + 1;
        in.expect("_");
        return index;
    }

    private Node templateParameter(int index) throws MalformedSymbolException {
        if (lambdas > 0) {
            return new Node.Word("auto:" + (index + 1));
        }
        if (conversions > 0) {
            Node.Forward forward = new Node.Forward(index);
            forwards.add(forward);
            return forward;
        }
        if (index >= templateArguments.size()) {
            throw new MalformedSymbolException();
        }
        return templateArguments.get(index);
    }

    /** Reads template arguments in a function's name. Template parameters refer to the last ones of the name. */
    private List<Node> ownTemplateArguments() throws MalformedSymbolException {
        List<Node> arguments = templateArguments();
        templateArguments = arguments;
        return arguments;
    }

    List<Node> templateArguments() throws MalformedSymbolException {
        in.expect("I");
        int outerConversions = conversions;
        int outerLambdas = lambdas;
        List<Node> arguments = new ArrayList<>();
        while (!in.skip("E")) {
            arguments.add(expressions.templateArgument());
        }
        conversions = outerConversions;
        lambdas = outerLambdas;
        return arguments;
    }

    // Types.

    private String qualifiers() {
        boolean restrict = in.skip("r");
        boolean isVolatile = in.skip("V");
        boolean isConst = in.skip("K");
        return (isConst ? " const" : "") + (isVolatile ? " volatile" : "") + (restrict ? " restrict" : "");
    }

    Node type() throws MalformedSymbolException {
        in.enter();
        Node type = readType();
        in.leave();
        return type;
    }

    private Node readType() throws MalformedSymbolException {
        char c = in.peek();
        String builtin = BUILTIN.get(c);
        if (builtin != null) {
            in.next();
            return new Node.Word(builtin);
        }
        Node type;
        switch (c) {
            case 'r', 'V', 'K' -> {
                String qualifiers = qualifiers();
                type = new Node.Qualified(type(), qualifiers);
            }
            case 'P' -> type = pointer("*");
            case 'R' -> type = pointer("&");
            case 'O' -> type = pointer("&&");
            case 'C' -> type = suffixed(" _Complex");
            case 'G' -> type = suffixed(" _Imaginary");
            case 'U' -> type = vendorQualified();
            case 'u' -> type = vendorType();
            case 'F' -> type = functionType("");
            case 'A' -> type = array();
            case 'M' -> type = memberPointer();
            case 'T' -> type = typeOfT();
            case 'S' -> {
                if (in.peek(1) == 't') {
                    type = classType();
                } else {
                    type = substitution();
                    if (in.peek() != 'I') {
                        return type;
                    }
                    type = new Node.Template(type, templateArguments());
                }
            }
            case 'D' -> {
                Node plain = typeOfD();
                if (plain instanceof Node.Word) {
                    return plain;
                }
                type = plain;
            }
            default -> type = classType();
        }
        substitutions.add(type);
        return type;
    }

    /** A type with a qualifier of one compiler, which may have arguments. */
    private Node vendorQualified() throws MalformedSymbolException {
        in.expect("U");
        Node.Word qualifier = sourceName();
        List<Node> arguments = in.peek() == 'I' ? templateArguments() : List.of();
        Node word = arguments.isEmpty() ? qualifier : new Node.Template(qualifier, arguments);
        return new Node.Sequence(type(), new Node.Word(" "), word);
    }

    private Node vendorType() throws MalformedSymbolException {
        in.expect("u");
        Node.Word name = sourceName();
        return in.peek() == 'I' ? new Node.Template(name, templateArguments()) : name;
    }

    private Node memberPointer() throws MalformedSymbolException {
        in.expect("M");
        Node scope = type();
        return new Node.MemberPointer(scope, type());
    }

    /** A name after {@code struct}, {@code union} or {@code enum}, or a parameter of a template, which may be a template. */
    private Node typeOfT() throws MalformedSymbolException {
        if ("sue".indexOf(in.peek(1)) >= 0) {
            in.next();
            in.next();
            return name(new NameState());
        }
        int index = templateParameterIndex();
        Node parameter = templateParameter(index);
        if (conversions > 0) {
            return parameter;
        }
        parameters.put(substitutions.size(), index);
        if (in.peek() != 'I') {
            return parameter;
        }
        substitutions.add(parameter);
        return new Node.Template(parameter, templateArguments());
    }

    /** Reads a name as a type. Its template arguments are not those that template parameters refer to. */
    private Node classType() throws MalformedSymbolException {
        List<Node> own = templateArguments;
        Node type = name(new NameState());
        templateArguments = own;
        return type;
    }

    private Node pointer(String sign) throws MalformedSymbolException {
        in.next();
        return new Node.Pointer(type(), sign);
    }

    private Node suffixed(String suffix) throws MalformedSymbolException {
        in.next();
        return new Node.Sequence(type(), new Node.Word(suffix));
    }

    private Node functionType(String exceptions) throws MalformedSymbolException {
        in.expect("F");
        in.skip("Y"); // extern "C"
        Node result = type();
        List<Node> parameters = parameters();
        String reference = in.skip("R") ? " &" : in.skip("O") ? " &&" : "";
        in.expect("E");
        return new Node.Function(null, result, parameters, reference + exceptions);
    }

    private Node array() throws MalformedSymbolException {
        in.expect("A");
        Node dimension;
        if (in.atDigit()) {
            StringBuilder digits = new StringBuilder();
            while (in.atDigit()) {
                digits.append(in.next());
            }
            dimension = new Node.Word(digits.toString());
        } else {
            dimension = in.peek() == '_' ? new Node.Word("") : expressions.expression();
        }
        in.expect("_");
        return new Node.Array(type(), dimension);
    }

    /** Reads a type that starts with D. A {@link Node.Word} is a builtin type, which gets no number. */
    private Node typeOfD() throws MalformedSymbolException {
        String builtin = BUILTIN_D.get(in.peek(1));
        if (builtin != null) {
            in.next();
            in.next();
            return new Node.Word(builtin);
        }
        return switch (in.peek(1)) {
            case 't', 'T' -> decltype();
            case 'p' -> {
                in.skip("Dp");
                yield new Node.Expansion(type());
            }
            case 'o' -> {
                in.skip("Do");
                yield functionType(" noexcept");
            }
            case 'O' -> {
                in.skip("DO");
                Node condition = expressions.expression();
                in.expect("E");
                Node function = functionType("");
                yield new Node.Sequence(function, new Node.Word(" noexcept("), condition, new Node.Word(")"));
            }
            case 'v' -> {
                in.skip("Dv");
                Node size = in.atDigit() ? new Node.Word(Integer.toString(in.number())) : vectorSize();
                in.expect("_");
                yield new Node.Sequence(type(), new Node.Word(" __vector("), size, new Node.Word(")"));
            }
            case 'F' -> {
                in.skip("DF");
                int bits = in.number();
                if (in.skip("b")) {
                    yield new Node.Word("std::bfloat" + bits + "_t");
                }
                String more = in.skip("x") ? "x" : "";
                in.skip("_");
                yield new Node.Word("_Float" + bits + more);
            }
            case 'B', 'U' -> {
                String sign = in.peek(1) == 'U' ? "unsigned " : "";
                in.next();
                in.next();
                Node size = in.atDigit() ? new Node.Word(Integer.toString(in.number())) : expressions.expression();
                in.expect("_");
                yield new Node.Sequence(new Node.Word(sign + "_BitInt("), size, new Node.Word(")"));
            }
            default -> throw new MalformedSymbolException();
        };
    }

    private Node vectorSize() throws MalformedSymbolException {
        in.expect("_");
        return expressions.expression();
    }

    Node decltype() throws MalformedSymbolException {
        in.next();
        in.next();
        Node expression = expressions.expression();
        in.expect("E");
        return new Node.Sequence(new Node.Word("decltype ("), expression, new Node.Word(")"));
    }

    /** Reads a name in an expression, with its template arguments if it has any. */
    Node expressionName() throws MalformedSymbolException {
        Node name = unqualifiedName(new NameState(), null);
        return in.peek() == 'I' ? new Node.Template(name, templateArguments()) : name;
    }
}
