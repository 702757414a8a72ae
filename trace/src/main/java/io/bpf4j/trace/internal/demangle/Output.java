package io.bpf4j.trace.internal.demangle;

/**
 * The name that is being written, within limits. A symbol of a hundred bytes can stand for a name of any length: each
 * part may repeat the previous one twice. <i>Confined.</i>
 */
final class Output {
    /** Characters of a name. The longest names in real programs have ten thousand. */
    private static final int MAX_LENGTH = 1 << 14;

    /** Parts that are written. They are bounded too, because an empty part adds no characters. */
    private static final int MAX_STEPS = 1 << 15;

    private static final int MAX_DEPTH = 192;

    private final StringBuilder text = new StringBuilder();
    private int steps;
    private int depth;

    /** The index of the element of a pack to write; -1 to write all elements. */
    int packIndex = -1;

    void print(Node node) throws MalformedSymbolException {
        left(node);
        right(node);
    }

    /** Writes the part of a type before the declared name. */
    void left(Node node) throws MalformedSymbolException {
        enter();
        node.left(this);
        depth--;
    }

    /** Writes the part of a type after the declared name: parameters of a function, bounds of an array. */
    void right(Node node) throws MalformedSymbolException {
        enter();
        node.right(this);
        depth--;
    }

    private void enter() throws MalformedSymbolException {
        if (++steps > MAX_STEPS || ++depth > MAX_DEPTH) {
            throw new MalformedSymbolException();
        }
    }

    Output text(String more) throws MalformedSymbolException {
        if (text.length() + more.length() > MAX_LENGTH) {
            throw new MalformedSymbolException();
        }
        text.append(more);
        return this;
    }

    char last() {
        return text.isEmpty() ? 0 : text.charAt(text.length() - 1);
    }

    int length() {
        return text.length();
    }

    /** Removes everything beyond a length. */
    void truncate(int length) {
        text.setLength(length);
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
