package io.bpf4j.cli.output;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Converts bytes of another process to text that is safe to print.
 *
 * <p>The traced program controls the content of a traced string. A raw string could move the cursor, clear the screen
 * or forge a line of output, so control characters are shown as escapes.
 */
public final class Text {
    private static final String INDENTED = "\n    ";

    private Text() {}

    /**
     * Decodes UTF-8 or the JVM's modified UTF-8, without ever failing.
     *
     * <p>Modified UTF-8 (JVM specification, 4.4.7) differs in two ways: U+0000 is the two bytes {@code C0 80}, and a
     * character beyond U+FFFF is a surrogate pair of three bytes each, {@code ED A0..AF xx ED B0..BF xx}. A strict
     * decoder refuses both. No valid UTF-8 sequence starts with those bytes, so one decoder serves both encodings. Any
     * other invalid byte, such as one of a character that the limit of the string's length has cut, becomes a lone
     * surrogate, U+DC00 plus the byte, as in the values of questions.
     */
    public static String decode(byte[] bytes) {
        if (isPlain(bytes)) {
            String text = StandardCharsets.UTF_8.decode(ByteBuffer.wrap(bytes)).toString();
            if (text.indexOf('\ufffd') < 0) {
                return text;
            }
        }
        StringBuilder text = new StringBuilder(bytes.length);
        int i = 0;
        while (i < bytes.length) {
            int b = bytes[i] & 0xff;
            if (b < 0x80) {
                text.append((char) b);
                i++;
            } else if (b >= 0xc0 && b < 0xe0 && follows(bytes, i, 1)) {
                text.append((char) ((b & 0x1f) << 6 | low(bytes, i + 1)));
                i += 2;
            } else if (b >= 0xe0 && b < 0xf0 && follows(bytes, i, 2)) {
                text.append((char) ((b & 0x0f) << 12 | low(bytes, i + 1) << 6 | low(bytes, i + 2)));
                i += 3;
            } else if (b >= 0xf0 && b < 0xf5 && follows(bytes, i, 3)) {
                int point = (b & 0x07) << 18 | low(bytes, i + 1) << 12 | low(bytes, i + 2) << 6 | low(bytes, i + 3);
                if (Character.isValidCodePoint(point)) {
                    text.appendCodePoint(point);
                    i += 4;
                } else {
                    text.append((char) (0xdc00 + b));
                    i++;
                }
            } else {
                text.append((char) (0xdc00 + b));
                i++;
            }
        }
        return text.toString();
    }

    private static boolean isPlain(byte[] bytes) {
        for (byte b : bytes) {
            if (b == (byte) 0xc0 || b == (byte) 0xed) {
                return false;
            }
        }
        return true;
    }

    private static boolean follows(byte[] bytes, int at, int count) {
        if (at + count >= bytes.length) {
            return false;
        }
        for (int i = at + 1; i <= at + count; i++) {
            if ((bytes[i] & 0xc0) != 0x80) {
                return false;
            }
        }
        return true;
    }

    private static int low(byte[] bytes, int at) {
        return bytes[at] & 0x3f;
    }

    /** Shows control characters, quotes and backslashes as escapes: {@code \n}, {@code \t}, {@code \x1b}. */
    public static String escape(String text) {
        StringBuilder escaped = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            switch (c) {
                case '"' -> escaped.append("\\\"");
                case '\\' -> escaped.append("\\\\");
                default -> appendVisible(escaped, c);
            }
        });
        return escaped.toString();
    }

    /** The same in JSON's notation. Characters that JSON allows are escaped, too, if they could control a terminal. */
    public static String jsonEscape(String text) {
        StringBuilder escaped = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            switch (c) {
                case '"' -> escaped.append("\\\"");
                case '\\' -> escaped.append("\\\\");
                case '\n' -> escaped.append("\\n");
                case '\r' -> escaped.append("\\r");
                case '\t' -> escaped.append("\\t");
                default -> {
                    if (isUnsafe(c)) {
                        for (char unit : Character.toChars(c)) {
                            escaped.append(String.format("\\u%04x", (int) unit));
                        }
                    } else {
                        escaped.appendCodePoint(c);
                    }
                }
            }
        });
        return escaped.toString();
    }

    /** Escapes text without surrounding quotes, such as the names in a file: quotes and backslashes stay. */
    public static String printable(String text) {
        return printable(text, -1);
    }

    /**
     * The same for a line and further lines that are indented by four, so that no name can start a line that looks like
     * a message of this command.
     */
    static String printableParagraph(String text) {
        return Arrays.stream(text.split(INDENTED, -1)).map(Text::printable).collect(Collectors.joining(INDENTED));
    }

    /** The same for text of several lines. */
    static String printableLines(String text) {
        return printable(text, '\n');
    }

    private static String printable(String text, int kept) {
        if (text.chars().allMatch(c -> c >= 0x20 && c < 0x7f)) {
            return text;
        }
        StringBuilder visible = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            if (c == kept) {
                visible.appendCodePoint(c);
            } else {
                appendVisible(visible, c);
            }
        });
        return visible.toString();
    }

    private static void appendVisible(StringBuilder to, int c) {
        switch (c) {
            case '\n' -> to.append("\\n");
            case '\r' -> to.append("\\r");
            case '\t' -> to.append("\\t");
            default -> {
                if (!isUnsafe(c)) {
                    to.appendCodePoint(c);
                } else if (c >= 0xdc80 && c <= 0xdcff) {
                    // A byte that is not UTF-8, as the values of questions have it.
                    to.append(String.format("\\x%02x", c - 0xdc00));
                } else if (c < 0x100) {
                    to.append(String.format("\\x%02x", c));
                } else {
                    to.append(String.format("\\u{%x}", c));
                }
            }
        }
    }

    /**
     * Characters that output must not contain unescaped: controls, of which C1 (U+0080 to U+009F) drive a terminal like
     * those of ASCII; and line and paragraph separators, direction overrides and lone surrogates, which change the
     * appearance of other text; and the two noncharacters at the end of each plane, which XML doesn't allow.
     */
    static boolean isUnsafe(int c) {
        int type = Character.getType(c);
        return (c & 0xfffe) == 0xfffe
                || type == Character.CONTROL
                || type == Character.FORMAT
                || type == Character.SURROGATE
                || type == Character.LINE_SEPARATOR
                || type == Character.PARAGRAPH_SEPARATOR;
    }
}
