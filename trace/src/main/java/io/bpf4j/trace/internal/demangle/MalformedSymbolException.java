package io.bpf4j.trace.internal.demangle;

/** A symbol is malformed, or its name exceeds the limits. There is no stack trace, because this is thrown often. */
final class MalformedSymbolException extends Exception {
    private static final long serialVersionUID = 1L;

    MalformedSymbolException() {
        super("malformed symbol", null, false, false);
    }
}
