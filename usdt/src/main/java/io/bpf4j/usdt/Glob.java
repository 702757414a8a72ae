package io.bpf4j.usdt;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A pattern for a name, with the syntax of DTrace, bpftrace and shells. <b>Immutable</b>.
 *
 * <pre>
 *   *        any text, none included
 *   ?        any character
 *   [sd]     one of these characters; [a-f] a range, [!sd] or [^sd] any other
 *   {a,b}    one of these texts, which may be patterns
 *   \*       the character as such
 * </pre>
 *
 * <p>An unclosed bracket or brace is literal. A hyphen also matches two underscores, as in DTrace: names in a program
 * are identifiers, so {@code gc-begin} is {@code gc__begin} there.
 */
final class Glob {
    /** The maximum number of texts that braces may expand to. */
    private static final int MAX_ALTERNATIVES = 1000;

    /**
     * The maximum number of braces, nested or in sequence, because each is a nested call. Ten in sequence expand to
     * 1,024 texts.
     */
    private static final int MAX_BRACES = 100;

    /**
     * A condition for one character.
     *
     * @param low null for any text
     * @param high together with low the ranges, their ends included
     */
    private record Token(@Nullable String low, String high, boolean negated) {
        static final Token ANY_TEXT = new Token(null, "", false);
        static final Token ANY_CHARACTER = new Token("", "", true);

        static Token literal(char c) {
            return new Token(String.valueOf(c), String.valueOf(c), false);
        }

        boolean isWild() {
            return low == null || negated || low.length() != 1 || !low.equals(high);
        }

        boolean matches(char c) {
            if (low == null) {
                return false;
            }
            for (int i = 0; i < low.length(); i++) {
                if (c >= low.charAt(i) && c <= high.charAt(i)) {
                    return !negated;
                }
            }
            return negated;
        }
    }

    /** Any text. */
    static final Glob ANY = new Glob("*");

    private final String text;

    /** Empty if the pattern is plain: none of its characters is special. */
    private final List<List<Token>> alternatives = new ArrayList<>();

    private final boolean exact;

    /** @throws IllegalArgumentException if the braces of the pattern stand for too many texts */
    Glob(String text) {
        this.text = text;
        if (isPlain(text)) {
            this.exact = true;
            return;
        }
        List<String> plain = new ArrayList<>();
        expand("", text, plain, 0);
        for (String one : plain) {
            alternatives.add(tokens(one, "-"));
            if (one.indexOf('-') >= 0) {
                alternatives.add(tokens(one, "__"));
            }
        }
        this.exact =
                plain.size() == 1 && alternatives.stream().flatMap(List::stream).noneMatch(Token::isWild);
    }

    /** Whether it can match one name only. */
    boolean isExact() {
        return exact;
    }

    boolean matches(String name) {
        if (alternatives.isEmpty()) {
            return text.equals(name);
        }
        for (List<Token> tokens : alternatives) {
            if (matches(tokens, name)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isPlain(String text) {
        for (int i = 0; i < text.length(); i++) {
            if ("*?[{\\-".indexOf(text.charAt(i)) >= 0) {
                return false;
            }
        }
        return true;
    }

    /** The original pattern. */
    @Override
    public String toString() {
        return text;
    }

    /** Adds the texts that the braces in {@code rest} stand for, each after {@code before}. */
    private static void expand(String before, String rest, List<String> out, int braces) {
        int open = indexOf(rest, '{', 0);
        while (open >= 0) {
            List<String> parts = parts(rest, open);
            if (parts.size() > 1 && braces == MAX_BRACES) {
                throw tooMany();
            }
            if (parts.size() > 1) {
                int close = parts.stream().mapToInt(String::length).sum() + parts.size() + open;
                for (String part : parts) {
                    List<String> inner = new ArrayList<>();
                    expand("", part, inner, braces + 1);
                    for (String one : inner) {
                        expand(before + rest.substring(0, open) + one, rest.substring(close + 1), out, braces + 1);
                    }
                }
                return;
            }
            open = indexOf(rest, '{', open + 1);
        }
        if (out.size() == MAX_ALTERNATIVES) {
            throw tooMany();
        }
        out.add(before + rest);
    }

    private static IllegalArgumentException tooMany() {
        return new IllegalArgumentException(
                "the braces stand for more than " + MAX_ALTERNATIVES + " names, or nest deeply");
    }

    /** The texts between the commas of the brace at {@code open}; empty if the brace isn't closed. */
    private static List<String> parts(String text, int open) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int start = open + 1;
        for (int i = open; i < text.length(); i = next(text, i)) {
            char c = text.charAt(i);
            if (c == '{') {
                depth++;
            } else if (depth == 1 && (c == ',' || c == '}')) {
                parts.add(text.substring(start, i));
                start = i + 1;
            }
            if (c == '}' && --depth == 0) {
                return parts;
            }
        }
        return List.of();
    }

    private static int indexOf(String text, char wanted, int from) {
        for (int i = from; i < text.length(); i = next(text, i)) {
            if (text.charAt(i) == wanted) {
                return i;
            }
        }
        return -1;
    }

    /** The index after the character, the escaped character or the set at this one. */
    private static int next(String text, int at) {
        return switch (text.charAt(at)) {
            case '\\' -> Math.min(at + 2, text.length());
            case '[' -> Math.max(endOfSet(text, at), at) + 1;
            default -> at + 1;
        };
    }

    /** The index of the bracket that closes a set; -1 if it is missing. A set is not empty. */
    private static int endOfSet(String text, int open) {
        return text.indexOf(']', startOfSet(text, open) + 1);
    }

    private static int startOfSet(String text, int open) {
        boolean negated = open + 1 < text.length() && (text.charAt(open + 1) == '!' || text.charAt(open + 1) == '^');
        return open + (negated ? 2 : 1);
    }

    private static List<Token> tokens(String text, String hyphen) {
        List<Token> tokens = new ArrayList<>();
        for (int i = 0; i < text.length(); i = next(text, i)) {
            char c = text.charAt(i);
            if (c == '*') {
                tokens.add(Token.ANY_TEXT);
            } else if (c == '?') {
                tokens.add(Token.ANY_CHARACTER);
            } else if (c == '[' && endOfSet(text, i) > 0) {
                tokens.add(set(text, i));
            } else if (c == '-') {
                hyphen.chars().forEach(h -> tokens.add(Token.literal((char) h)));
            } else if (c == '\\' && i + 1 < text.length()) {
                tokens.add(Token.literal(text.charAt(i + 1)));
            } else {
                tokens.add(Token.literal(c));
            }
        }
        return tokens;
    }

    private static Token set(String text, int open) {
        int start = startOfSet(text, open);
        int end = endOfSet(text, open);
        StringBuilder low = new StringBuilder();
        StringBuilder high = new StringBuilder();
        for (int i = start; i < end; i++) {
            boolean range = i + 2 < end && text.charAt(i + 1) == '-';
            low.append(text.charAt(i));
            high.append(text.charAt(range ? i + 2 : i));
            i += range ? 2 : 0;
        }
        return new Token(low.toString(), high.toString(), start > open + 1);
    }

    /**
     * Matches greedily and, on a mismatch, goes back to the last star only: earlier stars need never be tried again. So
     * even a hostile pattern costs at most the product of the two lengths.
     */
    private static boolean matches(List<Token> tokens, String name) {
        int p = 0;
        int t = 0;
        int star = -1;
        int mark = 0;
        while (t < name.length()) {
            if (p < tokens.size() && tokens.get(p).low() == null) {
                star = p++;
                mark = t;
            } else if (p < tokens.size() && tokens.get(p).matches(name.charAt(t))) {
                p++;
                t++;
            } else if (star >= 0) {
                p = star + 1;
                t = ++mark;
            } else {
                return false;
            }
        }
        while (p < tokens.size() && tokens.get(p).low() == null) {
            p++;
        }
        return p == tokens.size();
    }
}
