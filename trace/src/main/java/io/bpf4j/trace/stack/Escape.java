package io.bpf4j.trace.stack;

import io.bpf4j.elf.internal.text.CString;

/**
 * Escapes names, which may have any characters, for folded lines, XML and HTML.
 *
 * <p>Tested by {@code StackCountsTest} and {@code FlameGraphTest}.
 */
final class Escape {
    private Escape() {}

    /** Appends a frame of a folded line; semicolons, line ends and other unprintable characters are escaped. */
    static void line(String name, StringBuilder out) {
        name.codePoints().forEach(c -> {
            if (c == ';' || c == '\\' || !isPrintable(c)) {
                hex(c, out);
            } else {
                out.appendCodePoint(c);
            }
        });
    }

    /** Escapes text or an attribute's value, for XML and HTML. */
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

    /**
     * Excludes also characters that change the direction of the surrounding text, and lone surrogates, which stand for bytes
     * that are not UTF-8.
     */
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

    private static void hex(int point, StringBuilder out) {
        boolean isByte = point >= CString.RAW_BYTE_BASE + 0x80 && point <= CString.RAW_BYTE_BASE + 0xff;
        int c = isByte ? point - CString.RAW_BYTE_BASE : point;
        String digits = Integer.toHexString(c);
        if (c < 0x100) {
            out.append("\\x").append(digits.length() < 2 ? "0" : "").append(digits);
        } else {
            out.append("\\u{").append(digits).append('}');
        }
    }
}
