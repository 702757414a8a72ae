package io.bpf4j.loader.internal.glob;

import java.util.BitSet;
import java.util.List;

/**
 * A pattern for a whole name or text. <i>Immutable.</i>
 *
 * <pre>
 *   *        any text, none included
 *   ?        any character
 *   [sd]     one of these characters; [a-f] a range, [!sd] or [^sd] any other; a bracket that comes first is a member
 *   {a,b}    one of these texts, which may be patterns
 *   \*       the character as such, also between brackets
 * </pre>
 *
 * <p>Names and texts differ in what their patterns are used for:
 *
 * <ul>
 *   <li>{@link #ofName}: names of probes and functions, decoded as they are shown. A hyphen also matches two
 *       underscores, as in DTrace: names in a program are identifiers, so {@code gc-begin} is {@code gc__begin} there.
 *       Names of C++ and Rust functions have brackets and braces ({@code operator[]}, <code>{closure#0}</code>): those
 *       that are not closed, braces without a comma, and a backslash at the end stand for themselves, and a name that
 *       is spelled like the pattern matches.
 *   <li>{@link #ofText}: text in memory, whose characters are its bytes. What is not complete is refused, because
 *       nothing would show the mistake.
 *   <li>{@link #ofLibbpf}: what {@code SEC("kprobe.multi/…")} and {@code SEC("uprobe.multi/…")} have. libbpf knows
 *       {@code *} and {@code ?} only; every other character stands for itself.
 * </ul>
 *
 * <p>Tested by {@code GlobTest}.
 */
public final class Glob {
    private final String text;

    /** Empty if the pattern's own text is all that matches. */
    private final List<Part> parts;

    private final boolean matchesItself;
    private final boolean isExact;

    /** A piece of a pattern. */
    public sealed interface Part {}

    /** Any number of characters, also none. */
    public record AnyText() implements Part {}

    /**
     * One character.
     *
     * @param low the first characters of the ranges
     * @param high the last characters of the same ranges
     */
    public record OneOf(List<Integer> low, List<Integer> high, boolean negated) implements Part {
        static final OneOf ANY = new OneOf(List.of(), List.of(), true);

        static OneOf character(int c) {
            return new OneOf(List.of(c), List.of(c), false);
        }

        public boolean contains(int c) {
            for (int i = 0; i < low.size(); i++) {
                if (c >= low.get(i) && c <= high.get(i)) {
                    return !negated;
                }
            }
            return negated;
        }

        private boolean isSingle() {
            return !negated && low.size() == 1 && low.equals(high);
        }
    }

    /** One of several patterns. */
    public record Choice(List<List<Part>> patterns) implements Part {
        static final Choice HYPHEN = new Choice(List.of(literal("-"), literal("__")));
    }

    private Glob(String text, List<Part> parts, boolean matchesItself) {
        this.text = text;
        this.parts = parts;
        this.matchesItself = matchesItself;
        this.isExact = parts.stream()
                .allMatch(part -> part.equals(Choice.HYPHEN) || (part instanceof OneOf one && one.isSingle()));
    }

    /**
     * The pattern of a name.
     *
     * @throws IllegalArgumentException if braces are nested too deeply
     */
    public static Glob ofName(String text) {
        return new Glob(text, new GlobParser(text, false).parts(), true);
    }

    /**
     * The pattern of a text in memory.
     *
     * @param bytes a character for each byte, as ISO-8859-1 decodes them
     * @throws IllegalArgumentException if it is not a pattern; the message says why
     */
    public static Glob ofText(String bytes) {
        return new Glob(bytes, new GlobParser(bytes, true).parts(), false);
    }

    /** The pattern of libbpf's section names. */
    public static Glob ofLibbpf(String text) {
        if (text.indexOf('*') < 0 && text.indexOf('?') < 0) {
            return new Glob(text, List.of(), true); // every symbol of a file passes here
        }
        List<Part> parts = text.codePoints()
                .<Part>mapToObj(c -> switch (c) {
                    case '*' -> new AnyText();
                    case '?' -> OneOf.ANY;
                    default -> OneOf.character(c);
                })
                .toList();
        return new Glob(text, parts, false);
    }

    /** A pattern of {@link #ofName} for one name, in which every character stands for itself. */
    public static String quoted(String name) {
        return name.replaceAll("[\\\\*?\\[\\]{},-]", "\\\\$0");
    }

    static List<Part> literal(String text) {
        return text.codePoints().<Part>mapToObj(OneOf::character).toList();
    }

    /** The pattern as it was written. */
    public String text() {
        return text;
    }

    /** The parts in order; empty if the pattern is literal and matches only its own text. */
    public List<Part> parts() {
        return parts;
    }

    /** Whether it names one name: no part of it stands for several. A hyphen counts as itself. */
    public boolean isExact() {
        return isExact;
    }

    /**
     * Whether the whole of a name matches. The time is at most the product of the lengths: each part is looked at once,
     * with all places of the name at which it may begin.
     */
    public boolean matches(String name) {
        if (parts.isEmpty() || (matchesItself && name.equals(text))) {
            return name.equals(text);
        }
        int[] characters = new int[name.length()];
        int length = 0;
        for (int i = 0; i < name.length(); i += Character.charCount(characters[length - 1])) {
            characters[length++] = name.codePointAt(i);
        }
        BitSet start = new BitSet();
        start.set(0);
        return ends(parts, characters, length, start).get(length);
    }

    /** The places of a name at which a match of the parts may end, of those that begin at one of the starts. */
    private static BitSet ends(List<Part> parts, int[] name, int length, BitSet starts) {
        BitSet at = starts;
        for (Part part : parts) {
            if (at.isEmpty()) {
                return at;
            }
            BitSet next = new BitSet();
            switch (part) {
                case AnyText() -> next.set(at.nextSetBit(0), length + 1);
                case OneOf one -> {
                    for (int i = at.nextSetBit(0); i >= 0 && i < length; i = at.nextSetBit(i + 1)) {
                        if (one.contains(name[i])) {
                            next.set(i + 1);
                        }
                    }
                }
                case Choice(List<List<Part>> patterns) -> {
                    for (List<Part> pattern : patterns) {
                        next.or(ends(pattern, name, length, at));
                    }
                }
            }
            at = next;
        }
        return at;
    }
}
