package io.bpf4j.cli.output;

import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.ByteBuffer;
import java.nio.charset.CodingErrorAction;
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
            int length = lengthOfCharacter(bytes, i);
            if (length == 0) {
                text.append((char) (0xdc00 + (bytes[i++] & 0xff)));
            } else {
                text.appendCodePoint(character(bytes, i, length));
                i += length;
            }
        }
        return text.toString();
    }

    /**
     * Reads UTF-8. Bytes that are not UTF-8 become U+DC00, a lone surrogate, which decoding never yields otherwise, so a
     * reader can tell them from text.
     */
    public static Reader utf8(InputStream bytes) {
        return new InputStreamReader(
                bytes,
                StandardCharsets.UTF_8
                        .newDecoder()
                        .onMalformedInput(CodingErrorAction.REPLACE)
                        .replaceWith("\udc00"));
    }

    /** How many bytes the character at an index has; 0 if none starts there. */
    private static int lengthOfCharacter(byte[] bytes, int at) {
        int first = bytes[at] & 0xff;
        if (first < 0x80) {
            return 1;
        }
        int length = first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
        if (length == 0 || !follows(bytes, at, length - 1)) {
            return 0;
        }
        int point = point(bytes, at, length);
        if (isHigh(point)) {
            boolean pair = at + 6 <= bytes.length && (bytes[at + 3] & 0xff) == 0xed && follows(bytes, at + 3, 2);
            return pair && isLow(point(bytes, at + 3, 3)) ? 6 : 0;
        }
        // Other overlong forms, and half a pair, are not characters in either encoding.
        int least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
        boolean needed = point >= least || (length == 2 && point == 0);
        return needed && !isLow(point) && Character.isValidCodePoint(point) ? length : 0;
    }

    private static int character(byte[] bytes, int at, int length) {
        return length == 6
                ? Character.toCodePoint((char) point(bytes, at, 3), (char) point(bytes, at + 3, 3))
                : point(bytes, at, length);
    }

    /** The bits of one to four bytes, put together. */
    private static int point(byte[] bytes, int at, int length) {
        int point = length == 1 ? bytes[at] : bytes[at] & (0xff >> (length + 1));
        for (int i = at + 1; i < at + length; i++) {
            point = (point << 6) | (bytes[i] & 0x3f);
        }
        return point;
    }

    private static boolean isHigh(int point) {
        return point >= Character.MIN_HIGH_SURROGATE && point <= Character.MAX_HIGH_SURROGATE;
    }

    private static boolean isLow(int point) {
        return point >= Character.MIN_LOW_SURROGATE && point <= Character.MAX_LOW_SURROGATE;
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
                    // A byte that is not UTF-8, encoded as in the values of questions.
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
