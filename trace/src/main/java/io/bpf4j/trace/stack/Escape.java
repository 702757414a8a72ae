package io.bpf4j.trace.stack;

/**
 * Writes names of any characters into folded lines and into XML and HTML.
 *
 * <p>Tested by {@code StackCountsTest} and {@code FlameGraphTest}.
 */
final class Escape {
    private Escape() {}

    /** A part of a folded line: without semicolons, line ends, and other characters that are not printable. */
    static void line(String name, StringBuilder out) {
        name.codePoints().forEach(c -> {
            if (c == ';' || c == '\\' || !isPrintable(c)) {
                hex(c, out);
            } else {
                out.appendCodePoint(c);
            }
        });
    }

    /** Text or the value of an attribute, in XML and in HTML. */
    static String markup(String text) {
        StringBuilder out = new StringBuilder();
        text.codePoints().forEach(c -> {
            switch (c) {
                case '&' -> out.append("&amp;");
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '"' -> out.append("&quot;");
                case '\'' -> out.append("&#39;");
                default -> {
                    if (isPrintable(c)) {
                        out.appendCodePoint(c);
                    } else {
                        // XML has no way to write most control characters.
                        hex(c, out);
                    }
                }
            }
        });
        return out.toString();
    }

    /** Excludes also what changes the direction of the text around, and halves of characters. */
    private static boolean isPrintable(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    private static void hex(int c, StringBuilder out) {
        String digits = Integer.toHexString(c);
        if (c < 0x100) {
            out.append("\\x").append(digits.length() < 2 ? "0" : "").append(digits);
        } else {
            out.append("\\u{").append(digits).append('}');
        }
    }
}
