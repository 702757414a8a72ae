package io.bpf4j.loader.internal.glob;

import io.bpf4j.loader.internal.glob.Glob.AnyText;
import io.bpf4j.loader.internal.glob.Glob.Choice;
import io.bpf4j.loader.internal.glob.Glob.OneOf;
import io.bpf4j.loader.internal.glob.Glob.Part;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;

/**
 * Reads the text of a {@link Glob} into its parts. <i>Confined.</i>
 *
 * <p>A first pass finds which braces and commas make choices, since a brace that is never closed is a character like
 * any other. So the time is proportional to the length.
 *
 * <p>Tested by {@code GlobTest}.
 */
final class GlobParser {
    /** Each choice in another is a nested call. */
    private static final int MAX_DEPTH = 100;

    private static final int ASCII = 0x80;

    private final int[] text;

    /** Whether the pattern is of a text in memory: whatever is not complete is refused. */
    private final boolean ofText;

    /** The braces and commas that make choices. */
    private final BitSet choices = new BitSet();

    /** No bracket from here on is closed. */
    private int unclosed = Integer.MAX_VALUE;

    private int at;

    GlobParser(String text, boolean ofText) {
        this.text = text.codePoints().toArray();
        this.ofText = ofText;
    }

    List<Part> parts() {
        findChoices();
        at = 0;
        return sequence(0);
    }

    private void findChoices() {
        Deque<List<Integer>> open = new ArrayDeque<>(); // for each brace its own place and those of its commas
        while (at < text.length) {
            switch (text[at]) {
                case '{' -> open.push(new ArrayList<>(List.of(at)));
                case ',' -> {
                    if (!open.isEmpty()) {
                        open.peek().add(at);
                    }
                }
                case '}' -> {
                    if (!open.isEmpty()) {
                        List<Integer> places = open.pop();
                        places.add(at);
                        if (places.size() > 2) {
                            places.forEach(choices::set);
                        }
                    }
                }
                default -> {}
            }
            skip();
        }
        if (ofText && !open.isEmpty()) {
            throw new IllegalArgumentException("'{' without '}' in the pattern; after a backslash it is a character");
        }
    }

    /** Goes past a character, an escaped character or a set. */
    private void skip() {
        switch (text[at]) {
            case '\\' -> at = Math.min(at + 2, text.length);
            case '[' -> at = Math.max(endOfSet(), at) + 1;
            default -> at++;
        }
    }

    /** The place of the bracket that closes the set at this place; -1 if it is missing. */
    private int endOfSet() {
        int first = startOfSet();
        for (int i = first; i < text.length && at < unclosed; i++) {
            if (text[i] == ']' && i > first) {
                return i;
            }
            i += text[i] == '\\' ? 1 : 0;
        }
        unclosed = Math.min(unclosed, at);
        if (ofText) {
            throw new IllegalArgumentException("'[' without ']' in the pattern");
        }
        return -1;
    }

    private int startOfSet() {
        boolean negated = at + 1 < text.length && (text[at + 1] == '!' || text[at + 1] == '^');
        return at + (negated ? 2 : 1);
    }

    /** Reads up to the comma or brace that ends one of the patterns of a choice, or to the end. */
    private List<Part> sequence(int depth) {
        List<Part> parts = new ArrayList<>();
        while (at < text.length && !(choices.get(at) && text[at] != '{')) {
            Part part = part(depth);
            if (!(part instanceof AnyText) || parts.isEmpty() || !(parts.getLast() instanceof AnyText)) {
                parts.add(part);
            }
        }
        return List.copyOf(parts);
    }

    private Part part(int depth) {
        if (choices.get(at)) {
            return choice(depth);
        }
        int c = text[at];
        if (c == '[') {
            int end = endOfSet();
            if (end > 0) {
                return set(end);
            }
        }
        if (c == '\\' && at + 1 < text.length) {
            at++;
            return OneOf.character(text[at++]);
        }
        if (c == '\\' && ofText) {
            throw new IllegalArgumentException("nothing follows the backslash at the pattern's end");
        }
        at++;
        return switch (c) {
            case '*' -> new AnyText();
            case '?' -> OneOf.ANY;
            case '-' -> ofText ? OneOf.character(c) : Choice.HYPHEN;
            default -> OneOf.character(c);
        };
    }

    private Choice choice(int depth) {
        if (depth == MAX_DEPTH) {
            throw new IllegalArgumentException("braces are nested more than " + MAX_DEPTH + " deep");
        }
        List<List<Part>> patterns = new ArrayList<>();
        do {
            at++;
            patterns.add(sequence(depth + 1));
        } while (text[at] == ',');
        at++;
        return new Choice(List.copyOf(patterns));
    }

    private OneOf set(int end) {
        boolean negated = startOfSet() > at + 1;
        at = startOfSet();
        List<Integer> low = new ArrayList<>();
        List<Integer> high = new ArrayList<>();
        while (at < end) {
            int first = member();
            int last = first;
            if (at + 1 < end && text[at] == '-') {
                at++;
                last = member();
            }
            if (ofText && first > last) {
                throw new IllegalArgumentException("a range in brackets ends before it begins");
            }
            if (ofText && last >= ASCII) {
                throw new IllegalArgumentException("a character between brackets is not ASCII: it has several bytes");
            }
            low.add(first);
            high.add(last);
        }
        at = end + 1;
        return new OneOf(List.copyOf(low), List.copyOf(high), negated);
    }

    private int member() {
        at += text[at] == '\\' ? 1 : 0;
        return text[at++];
    }
}
