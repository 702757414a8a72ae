package io.bpf4j.trace.internal.demangle;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A part of a C++ name.
 *
 * <p>A type in C++ is written around what it declares: the pointer to a function is {@code int (*)(char)}, with a part
 * before the star and one after it. So each part of a name has a left and a right side. Most right sides are empty.
 *
 * <p>All kinds of parts are in this file, a few lines each, so that a reader can compare how they write their two
 * sides.
 *
 * <p>Tested by {@code DemanglerTest}.
 */
abstract class Node {
    /**
     * The maximum nesting of parts. The methods below call themselves once for each level; printing has another limit.
     */
    private static final int MAX_DEPTH = 1 << 10;

    private final int depth;
    private final @Nullable Pack pack;

    Node() {
        depth = 0;
        pack = null;
    }

    /**
     * A part that contains others. Its depth and its pack are computed here, once: a symbol can use a part twice in
     * each of fifty others, so a traversal of all paths would not end.
     */
    Node(List<? extends Node> parts) throws MalformedSymbolException {
        this(parts, parts);
    }

    /** @param mayHavePack the parts whose pack is also the pack of this part */
    private Node(List<? extends Node> parts, List<? extends Node> mayHavePack) throws MalformedSymbolException {
        int deepest = 0;
        for (Node part : parts) {
            deepest = Math.max(deepest, part.depth);
        }
        Pack first = null;
        for (Node part : mayHavePack) {
            first = first == null ? part.pack() : first;
        }
        depth = deepest + 1;
        pack = first;
        if (depth > MAX_DEPTH) {
            throw new MalformedSymbolException();
        }
    }

    /** The first pack in this part, which an expansion iterates over; null if there is none. */
    @Nullable
    Pack pack() {
        return pack;
    }

    abstract void left(Output out) throws MalformedSymbolException;

    void right(Output out) throws MalformedSymbolException {}

    /** Whether a pointer to this type needs parentheses: {@code int (*) [3]}. */
    boolean isFunctionOrArray() {
        return false;
    }

    /** The name without scopes and template arguments, which is that of a class's constructor; empty if it has none. */
    String base() {
        return "";
    }

    /** Whether it needs no parentheses as an operand. */
    boolean isSimple() {
        return false;
    }

    private static List<Node> with(@Nullable Node first, List<Node> others) {
        if (first == null) {
            return others;
        }
        List<Node> all = new ArrayList<>(others.size() + 1);
        all.add(first);
        all.addAll(others);
        return all;
    }

    /** Writes a list with commas. An element without text, such as an empty pack, gets no comma. */
    static void list(Output out, List<? extends Node> nodes) throws MalformedSymbolException {
        boolean first = true;
        for (Node node : nodes) {
            int before = out.length();
            if (!first) {
                out.text(", ");
            }
            int start = out.length();
            out.print(node);
            if (out.length() == start) {
                out.truncate(before);
            } else {
                first = false;
            }
        }
    }

    /** Fixed text, such as an identifier or a builtin type. */
    static final class Word extends Node {
        private final String text;
        private final String base;

        Word(String text) {
            this(text, text);
        }

        Word(String text, String base) {
            this.text = text;
            this.base = base;
        }

        @Override
        void left(Output out) throws MalformedSymbolException {
            out.text(text);
        }

        @Override
        String base() {
            return base;
        }

        @Override
        boolean isSimple() {
            return true;
        }
    }

    /** Parts that are written one after the other. */
    static final class Sequence extends Node {
        private final List<Node> parts;

        Sequence(Node... parts) throws MalformedSymbolException {
            super(List.of(parts));
            this.parts = List.of(parts);
        }

        @Override
        void left(Output out) throws MalformedSymbolException {
            for (Node part : parts) {
                out.print(part);
            }
        }

        @Override
        String base() {
            return parts.getFirst().base();
        }
    }

    /** {@code scope::name}. */
    static final class Scoped extends Node {
        private final Node scope;
        private final Node name;

        Scoped(Node scope, Node name) throws MalformedSymbolException {
            super(List.of(scope, name));
            this.scope = scope;
            this.name = name;
        }

        @Override
        void left(Output out) throws MalformedSymbolException {
            out.print(scope);
            out.text("::");
            out.print(name);
        }

        @Override
        String base() {
            return name.base();
        }

        @Override
        boolean isSimple() {
            return !(name instanceof Template);
        }
    }

    /** {@code name<arguments>}. */
    static final class Template extends Node {
        private final Node name;
        private final List<Node> arguments;

        Template(Node name, List<Node> arguments) throws MalformedSymbolException {
            super(with(name, arguments));
            this.name = name;
            this.arguments = arguments;
        }

        @Override
        void left(Output out) throws MalformedSymbolException {
            int index = out.packIndex;
            out.print(name);
            out.text(out.last() == '<' ? " <" : "<");
            list(out, arguments);
            out.text(out.last() == '>' ? " >" : ">");
            out.packIndex = index;
        }

        @Override
        String base() {
            return name.base();
        }
    }

    /** The arguments for one variadic parameter of a template. */
    static final class Pack extends Node {
        private final List<Node> elements;

        Pack(List<Node> elements) throws MalformedSymbolException {
            super(elements);
            this.elements = elements;
        }

        int size() {
            return elements.size();
        }

        @Override
        void left(Output out) throws MalformedSymbolException {
            int index = out.packIndex;
            if (index < 0) {
                list(out, elements);
            } else if (index < elements.size()) {
                // A pack inside the element is another pack.
                out.packIndex = -1;
                out.left(elements.get(index));
                out.packIndex = index;
            }
        }

        @Override
        void right(Output out) throws MalformedSymbolException {
            int index = out.packIndex;
            if (index >= 0 && index < elements.size()) {
                out.packIndex = -1;
                out.right(elements.get(index));
                out.packIndex = index;
            }
        }

        @Override
        Pack pack() {
            return this;
        }
    }

    /** A pattern that is repeated for each argument of a pack. */
    static final class Expansion extends Node {
        private final Node pattern;

        Expansion(Node pattern) throws MalformedSymbolException {
            super(List.of(pattern), List.of());
            this.pattern = pattern;
        }

        @Override
        void left(Output out) throws MalformedSymbolException {
            Pack pack = pattern.pack();
            if (pack == null) {
                out.print(pattern);
                out.text("...");
                return;
            }
            int index = out.packIndex;
            for (int i = 0; i < pack.size(); i++) {
                out.packIndex = i;
                out.text(i == 0 ? "" : ", ");
                out.print(pattern);
            }
            out.packIndex = index;
        }
    }

    /** A template parameter that is read before its argument, in the type of a conversion operator. */
    static final class Forward extends Node {
        private final int index;
        private @Nullable Node argument;

        Forward(int index) {
            this.index = index;
        }

        void resolve(List<Node> arguments) throws MalformedSymbolException {
            if (index >= arguments.size()) {
                throw new MalformedSymbolException();
            }
            argument = arguments.get(index);
        }

        private Node argument() throws MalformedSymbolException {
            Node known = argument;
            if (known == null) {
                throw new MalformedSymbolException();
            }
            return known;
        }

        @Override
        void left(Output out) throws MalformedSymbolException {
            out.left(argument());
        }

        @Override
        void right(Output out) throws MalformedSymbolException {
            out.right(argument());
        }
    }

    /** A type with its qualifiers: {@code char const}. */
    static final class Qualified extends Node {
        private final Node type;
        private final String qualifiers;

        Qualified(Node type, String qualifiers) throws MalformedSymbolException {
            super(List.of(type));
            this.type = type;
            this.qualifiers = qualifiers;
        }

        @Override
        void left(Output out) throws MalformedSymbolException {
            out.left(type);
            if (!type.isFunctionOrArray() || type instanceof Array) {
                out.text(qualifiers);
            }
        }

        @Override
        void right(Output out) throws MalformedSymbolException {
            out.right(type);
            if (type.isFunctionOrArray() && !(type instanceof Array)) {
                out.text(qualifiers);
            }
        }

        @Override
        boolean isFunctionOrArray() {
            return type.isFunctionOrArray();
        }
    }

    /** A pointer or a reference. */
    static final class Pointer extends Node {
        private final Node to;
        private final String sign;

        Pointer(Node to, String sign) throws MalformedSymbolException {
            super(List.of(to));
            this.to = to;
            this.sign = sign;
        }

        /** Whether it points to the one element of a pack that is being written. */
        private boolean isIntoPack(Output out) {
            return to instanceof Pack pack && out.packIndex >= 0 && out.packIndex < pack.size();
        }

        private Node target(Output out) {
            return to instanceof Pack pack && isIntoPack(out) ? pack.elements.get(out.packIndex) : to;
        }

        /** Whether this and the type it points to are both references. */
        private boolean isCollapsedWith(Pointer inner) {
            return sign.startsWith("&") && inner.sign.startsWith("&");
        }

        /** A reference to a reference is one reference: {@code &&} only if both are. */
        private Pointer collapsedWith(Pointer inner) throws MalformedSymbolException {
            return new Pointer(inner.to, sign.equals("&") ? sign : inner.sign);
        }

        /** Leaves the pack if its element was taken already. Returns the index to restore. */
        private int outsideOfPack(Output out) {
            int index = out.packIndex;
            out.packIndex = isIntoPack(out) ? -1 : index;
            return index;
        }

        @Override
        void left(Output out) throws MalformedSymbolException {
            Node target = target(out);
            if (target instanceof Pointer inner && isCollapsedWith(inner)) {
                int index = outsideOfPack(out);
                collapsedWith(inner).left(out);
                out.packIndex = index;
                return;
            }
            out.left(to);
            if (target.isFunctionOrArray()) {
                out.text(out.last() == '(' || out.last() == ' ' ? "(" : " (");
            }
            out.text(sign);
        }

        @Override
        void right(Output out) throws MalformedSymbolException {
            Node target = target(out);
            if (target instanceof Pointer inner && isCollapsedWith(inner)) {
                int index = outsideOfPack(out);
                collapsedWith(inner).right(out);
                out.packIndex = index;
                return;
            }
            if (target.isFunctionOrArray()) {
                out.text(")");
            }
            out.right(to);
        }
    }

    /** A pointer to a member of a class: {@code int Foo::*}. */
    static final class MemberPointer extends Node {
        private final Node scope;
        private final Node type;

        MemberPointer(Node scope, Node type) throws MalformedSymbolException {
            super(List.of(scope, type));
            this.scope = scope;
            this.type = type;
        }

        @Override
        void left(Output out) throws MalformedSymbolException {
            out.left(type);
            if (type.isFunctionOrArray()) {
                out.text(out.last() == ' ' ? "(" : " (");
            } else {
                out.text(" ");
            }
            out.print(scope);
            out.text("::*");
        }

        @Override
        void right(Output out) throws MalformedSymbolException {
            if (type.isFunctionOrArray()) {
                out.text(")");
            }
            out.right(type);
        }
    }

    /** {@code int [3]}. */
    static final class Array extends Node {
        private final Node element;
        private final Node dimension;

        Array(Node element, Node dimension) throws MalformedSymbolException {
            super(List.of(element, dimension));
            this.element = element;
            this.dimension = dimension;
        }

        @Override
        void left(Output out) throws MalformedSymbolException {
            out.left(element);
        }

        @Override
        void right(Output out) throws MalformedSymbolException {
            out.text(out.last() == ']' ? "[" : " [");
            out.print(dimension);
            out.text("]");
            out.right(element);
        }

        @Override
        boolean isFunctionOrArray() {
            return true;
        }
    }

    /** The type of a function, or a function with its name. */
    static final class Function extends Node {
        private final @Nullable Node name;
        private final @Nullable Node result;
        private final List<Node> parameters;
        private final String qualifiers;

        /**
         * @param name null for a type
         * @param result null if the symbol does not have it
         * @param qualifiers those after the parameters, each with a space before it
         */
        Function(@Nullable Node name, @Nullable Node result, List<Node> parameters, String qualifiers)
                throws MalformedSymbolException {
            super(with(name, with(result, parameters)), with(result, parameters));
            this.name = name;
            this.result = result;
            this.parameters = parameters;
            this.qualifiers = qualifiers;
        }

        @Override
        void left(Output out) throws MalformedSymbolException {
            if (result != null) {
                out.left(result);
                if (!result.isFunctionOrArray() || out.last() != ' ') {
                    out.text(" ");
                }
            }
            if (name != null) {
                out.print(name);
            }
        }

        @Override
        void right(Output out) throws MalformedSymbolException {
            out.text("(");
            list(out, parameters);
            out.text(")");
            out.text(qualifiers);
            if (result != null) {
                out.right(result);
            }
        }

        @Nullable
        Node name() {
            return name;
        }

        @Override
        boolean isFunctionOrArray() {
            return name == null;
        }

        @Override
        String base() {
            return name == null ? "" : name.base();
        }
    }

    /** An operand, in parentheses unless it is a name. */
    static final class Operand extends Node {
        private final Node node;

        Operand(Node node) throws MalformedSymbolException {
            super(List.of(node));
            this.node = node;
        }

        @Override
        void left(Output out) throws MalformedSymbolException {
            boolean simple = node.isSimple();
            out.text(simple ? "" : "(");
            out.print(node);
            out.text(simple ? "" : ")");
        }
    }

    /** Expressions separated by commas. */
    static final class Listed extends Node {
        private final List<Node> nodes;

        Listed(List<Node> nodes) throws MalformedSymbolException {
            super(nodes);
            this.nodes = nodes;
        }

        @Override
        void left(Output out) throws MalformedSymbolException {
            list(out, nodes);
        }
    }
}
