package io.bpf4j.trace.catalog;

import java.util.Iterator;

/**
 * The lines of a catalog, one after the other, without comments and empty lines.
 *
 * <p>Tested by {@code CatalogParserTest}.
 */
final class Lines {
    /** The longest line, in UTF-16 units. A signature may continue on the next line. */
    static final int MAX_LENGTH = 1_000;

    private final String source;
    private final Iterator<String> lines;
    private int number;
    private String current = "";

    Lines(String source, String text) {
        this.source = source;
        this.lines = text.lines().iterator();
    }

    /** Moves to the next line that is neither empty nor a comment; false at the end. */
    boolean next() {
        while (lines.hasNext()) {
            current = lines.next();
            number++;
            check();
            if (!current.isBlank() && !current.stripLeading().startsWith("#")) {
                return true;
            }
        }
        return false;
    }

    /** The line, without blanks around it. */
    String text() {
        return current.strip();
    }

    /** Whether the line belongs to the entry above it. */
    boolean isIndented() {
        return Character.isWhitespace(current.charAt(0));
    }

    int number() {
        return number;
    }

    /** An error in this line. */
    CatalogException error(String problem) {
        return error(number, problem);
    }

    CatalogException error(int line, String problem) {
        return new CatalogException(source, Math.max(1, line), problem);
    }

    private void check() {
        if (current.length() > MAX_LENGTH) {
            throw error("a line has at most " + MAX_LENGTH + " characters: continue a signature after a comma");
        }
        for (int i = 0; i < current.length(); i++) {
            char c = current.charAt(i);
            if (c != '\t' && Character.isISOControl(c)) {
                throw error("a control character: expected printable text");
            }
        }
    }
}
