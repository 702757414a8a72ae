package io.bpf4j.usdt.internal.arg;

/**
 * The blanks of argument strings: space, tab and the ends of lines, and no others that Unicode knows.
 *
 * <p>One rule for all who read them. What one side takes for a blank and another for a character of an operand is read
 * otherwise once it was printed; that rules out {@link String#strip} and {@link String#isBlank}.
 */
final class Blanks {
    private Blanks() {}

    static boolean isBlank(char c) {
        return c == ' ' || c == '\t' || c == '\n' || c == '\r';
    }

    /** The first index from here on that has no blank; the length of the text if there is none. */
    static int skip(String text, int from) {
        int i = from;
        while (i < text.length() && isBlank(text.charAt(i))) {
            i++;
        }
        return i;
    }

    /** The text without the blanks around it. */
    static String strip(String text) {
        int start = skip(text, 0);
        int end = text.length();
        while (end > start && isBlank(text.charAt(end - 1))) {
            end--;
        }
        return text.substring(start, end);
    }
}
