package io.bpf4j.trace.internal.demangle;

/**
 * The name that is being written, within limits. A symbol of a hundred bytes can mean a name of any length: each part may
 * refer twice to the one before. <i>Confined.</i>
 */
final class Output {
    /** Characters of a name. The longest in programs have ten thousand. */
    private static final int MAX_LENGTH = 1 << 16;

    /** Parts that are written, of which some are empty. */
    private static final int MAX_STEPS = 1 << 17;

    private static final int MAX_DEPTH = 192;

    private final StringBuilder text = new StringBuilder();
    private int steps;
    private int depth;

    /** Of a pack of arguments the one to write; -1 for all. */
    int packIndex = -1;

    void print(Node node) throws MalformedSymbolException {
        left(node);
        right(node);
    }

    /** The part of a type before the name that is declared. */
    void left(Node node) throws MalformedSymbolException {
        enter();
        node.left(this);
        depth--;
    }

    /** The part of a type behind it: parameters of a function, bounds of an array. */
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

    /** Takes back what was written from a length on. */
    void truncate(int length) {
        text.setLength(length);
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
