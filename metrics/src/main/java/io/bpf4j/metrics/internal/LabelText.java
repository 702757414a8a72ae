package io.bpf4j.metrics.internal;

import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/** Names and values of labels from the keys of a question. */
public final class LabelText {
    /** A byte that is not UTF-8 is a lone surrogate in the values of a question: this plus the byte. */
    private static final char BYTE = 0xdc00;

    /** The value of all labels in the series of the combinations for which there was no room. */
    public static final String OTHER = "other";

    private LabelText() {}

    /** The name of the label for a key that the caller has not named: {@code str_arg0} for {@code str(arg0)}. */
    static String nameOf(String key) {
        String name = key.replaceAll("[^a-zA-Z0-9_.]+", "_")
                .replaceAll("^[_.]+|[_.]+$", "")
                .replaceAll("\\.{2,}", ".");
        return name.isEmpty() || Character.isDigit(name.charAt(0)) ? "key_" + name : name;
    }

    /** The value of a key: a number or boolean unchanged, text as valid UTF-8. */
    static Object value(@Nullable Object key) {
        return switch (key) {
            case Long number -> number;
            case Boolean truth -> truth;
            case Double number -> number;
            case BigInteger number -> number.toString();
            case null -> "";
            default -> text(key.toString());
        };
    }

    /** Text of other programs, with {@code \xff} for a byte that is not UTF-8, as in the tables of the command. */
    private static String text(String value) {
        if (value.chars().noneMatch(c -> Character.isSurrogate((char) c))) {
            return value;
        }
        StringBuilder text = new StringBuilder();
        value.codePoints().forEach(c -> {
            if (c >= BYTE + 0x80 && c <= BYTE + 0xff) {
                text.append("\\x%02x".formatted(c - BYTE));
            } else {
                text.appendCodePoint(c < 0x10000 && Character.isSurrogate((char) c) ? 0xfffd : c);
            }
        });
        return text.toString();
    }
}
