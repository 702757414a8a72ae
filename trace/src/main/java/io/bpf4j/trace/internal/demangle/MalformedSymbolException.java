package io.bpf4j.trace.internal.demangle;

/** A symbol that follows no known rule, or means more than is printed. Thrown for many symbols, so it has no trace. */
final class MalformedSymbolException extends Exception {
    private static final long serialVersionUID = 1L;

    MalformedSymbolException() {
        super("malformed symbol", null, false, false);
    }
}
