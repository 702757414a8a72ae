package io.bpf4j.test.support;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON as RFC 8259 has it, strictly, so that what the command prints is checked by other code than printed it. So
 * it is not the reader of {@code bpf4j merge}, though that reads the same.
 * Objects become maps, arrays lists, whole numbers {@code Long} or, beyond it, {@code BigInteger}, others
 * {@code Double}, null null.
 */
public final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** Reads one object that is the whole text. */
    @SuppressWarnings("unchecked")
    public static Map<String, @Nullable Object> object(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.at != text.length() || !(value instanceof Map)) {
            throw json.wrong("one object");
        }
        return (Map<String, @Nullable Object>) value;
    }

    /** Reads one array that is the whole text. */
    public static List<?> list(String text) {
        Object list = object("{\"list\":" + text + "}").get("list");
        return (List<?>) Objects.requireNonNull(list);
    }

    /** Reads an object from each line. */
    public static List<Map<String, @Nullable Object>> lines(String text) {
        return text.lines().map(Json::object).toList();
    }

    /** The end of an answer without its question. */
    public static Map<String, @Nullable Object> withoutQuestion(Map<String, @Nullable Object> end) {
        Map<String, @Nullable Object> rest = new LinkedHashMap<>(end);
        if (rest.remove("question") == null) {
            throw new AssertionError("an answer does not say its question: " + end);
        }
        return rest;
    }

    private AssertionError wrong(String expected) {
        return new AssertionError("expected " + expected + " at " + at + " of JSON " + text);
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private boolean taken(char c) {
        space();
        if (at < text.length() && text.charAt(at) == c) {
            at++;
            return true;
        }
        return false;
    }

    private void take(char c) {
        if (!taken(c)) {
            throw wrong("'" + c + "'");
        }
    }

    private @Nullable Object value() {
        space();
        if (at == text.length()) {
            throw wrong("a value");
        }
        return switch (text.charAt(at)) {
            case '{' -> map();
            case '[' -> list();
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private @Nullable Object word(String word, @Nullable Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong(word);
        }
        at += word.length();
        return value;
    }

    private Map<String, @Nullable Object> map() {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        take('{');
        if (taken('}')) {
            return map;
        }
        do {
            space();
            String key = string();
            take(':');
            if (map.containsKey(key)) {
                throw wrong("a key other than " + key);
            }
            map.put(key, value());
        } while (taken(','));
        take('}');
        return map;
    }

    private List<@Nullable Object> list() {
        List<@Nullable Object> list = new ArrayList<>();
        take('[');
        if (taken(']')) {
            return list;
        }
        do {
            list.add(value());
        } while (taken(','));
        take(']');
        return list;
    }

    private String string() {
        take('"');
        StringBuilder out = new StringBuilder();
        while (true) {
            if (at >= text.length() || text.charAt(at) < ' ') {
                throw wrong("the end of a string");
            }
            char c = text.charAt(at++);
            if (c == '"') {
                return out.toString();
            }
            if (c != '\\') {
                out.append(c);
                continue;
            }
            char escape = text.charAt(at++);
            switch (escape) {
                case '"', '\\', '/' -> out.append(escape);
                case 'b' -> out.append('\b');
                case 'f' -> out.append('\f');
                case 'n' -> out.append('\n');
                case 'r' -> out.append('\r');
                case 't' -> out.append('\t');
                case 'u' -> {
                    out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                    at += 4;
                }
                default -> throw wrong("an escape");
            }
        }
    }

    private Number number() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String number = text.substring(start, at);
        if (!number.matches("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?")) {
            throw wrong("a number");
        }
        if (!number.matches("-?\\d+")) {
            return Double.parseDouble(number);
        }
        BigInteger whole = new BigInteger(number);
        return whole.bitLength() < Long.SIZE ? (Number) whole.longValueExact() : whole;
    }
}
