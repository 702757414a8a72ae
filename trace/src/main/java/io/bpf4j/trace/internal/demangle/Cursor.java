package io.bpf4j.trace.internal.demangle;

/**
 * The position of a reader in a symbol. <i>Confined.</i>
 *
 * <p>Tested by {@code DemanglerTest}.
 */
final class Cursor {
    /** Nested parts. A thread's stack of 512 KiB has room for several times as many. */
    private static final int MAX_DEPTH = 192;

    private final String symbol;
    private int at;
    private int depth;

    Cursor(String symbol, int at) {
        this.symbol = symbol;
        this.at = at;
    }

    int at() {
        return at;
    }

    void moveTo(int place) {
        at = place;
    }

    /** The text from an earlier position to this one. */
    String since(int start) {
        return symbol.substring(start, at);
    }

    boolean atEnd() {
        return at >= symbol.length();
    }

    /** The next character; NUL at the end. */
    char peek() {
        return peek(0);
    }

    char peek(int ahead) {
        return at + ahead < symbol.length() ? symbol.charAt(at + ahead) : 0;
    }

    char next() throws MalformedSymbolException {
        if (atEnd()) {
            throw new MalformedSymbolException();
        }
        return symbol.charAt(at++);
    }

    boolean startsWith(String text) {
        return symbol.startsWith(text, at);
    }

    /** Skips the text if it is next. */
    boolean skip(String text) {
        boolean found = startsWith(text);
        at += found ? text.length() : 0;
        return found;
    }

    void expect(String text) throws MalformedSymbolException {
        if (!skip(text)) {
            throw new MalformedSymbolException();
        }
    }

    boolean atDigit() {
        return isDigit(peek());
    }

    static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    /** Reads a decimal number. */
    int number() throws MalformedSymbolException {
        if (!atDigit()) {
            throw new MalformedSymbolException();
        }
        int value = 0;
        while (atDigit()) {
            value = value * 10 + (next() - '0');
            if (value > symbol.length() << 4) {
                throw new MalformedSymbolException(); // no part is that long
            }
        }
        return value;
    }

    /** Takes the next characters. */
    String take(int length) throws MalformedSymbolException {
        if (length > symbol.length() - at) {
            throw new MalformedSymbolException();
        }
        at += length;
        return symbol.substring(at - length, at);
    }

    /** Takes the next characters, or those that are left if there are fewer. */
    String takeAtMost(int length) throws MalformedSymbolException {
        return take(Math.min(length, symbol.length() - at));
    }

    void enter() throws MalformedSymbolException {
        if (++depth > MAX_DEPTH) {
            throw new MalformedSymbolException();
        }
    }

    void leave() {
        depth--;
    }
}
