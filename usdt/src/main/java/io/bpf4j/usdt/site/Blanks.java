package io.bpf4j.usdt.site;

/**
 * The blanks of argument strings: space, tab and line ends, but no other blanks of Unicode.
 *
 * <p>All parsers use this rule. If a character were a blank for one parser and part of an operand for another, a
 * printed argument would be parsed differently. Therefore {@link String#strip} and {@link String#isBlank} can't be
 * used.
 *
 * <p>Tested by {@code UsdtArgTest}.
 */
final class Blanks {
    private Blanks() {}

    static boolean isBlank(char c) {
        return c == ' ' || c == '\t' || c == '\n' || c == '\r';
    }

    /** The first index from here on without a blank; the length of the text if only blanks follow. */
    static int skip(String text, int from) {
        int i = from;
        while (i < text.length() && isBlank(text.charAt(i))) {
            i++;
        }
        return i;
    }

    /** The text without surrounding blanks. */
    static String strip(String text) {
        int start = skip(text, 0);
        int end = text.length();
        while (end > start && isBlank(text.charAt(end - 1))) {
            end--;
        }
        return text.substring(start, end);
    }
}
