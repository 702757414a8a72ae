package io.bpf4j.trace.catalog;

import io.bpf4j.elf.Bpf4jException;

/**
 * A catalog breaks the rules of its format. The message has the file, the line, the problem, and what is expected.
 * <i>Immutable.</i>
 *
 * <p>Tested by {@code CatalogParserTest}.
 */
public final class CatalogException extends Bpf4jException {
    private static final long serialVersionUID = 1L;

    /** The name of the file, for messages. */
    private final String source;

    private final int line;

    CatalogException(String source, int line, String problem) {
        super(source + ":" + line + ": " + problem);
        this.source = source;
        this.line = line;
    }

    /** The file, as the caller named it. */
    public String source() {
        return source;
    }

    /** The number of the line, from 1. */
    public int line() {
        return line;
    }
}
