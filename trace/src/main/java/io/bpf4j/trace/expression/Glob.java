package io.bpf4j.trace.expression;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * A pattern of bytes, as a machine that a few instructions can run. <i>Immutable.</i>
 *
 * <p>Take {@code ab*c}. Its elements are a, b and c. State n means that the first n elements have matched the bytes
 * read so far. A pattern may be in several states at once, so the states are the bits of a word, of which at first only
 * bit 0 is set. For each byte:
 *
 * <pre>
 *   states = (states &lt;&lt; 1 &amp; mask[byte]) | (states &amp; stars)
 * </pre>
 *
 * <p>A state advances if the byte matches the next element: bit n + 1 of the byte's mask is set if the byte matches
 * element n, counted from 0. A state also remains if a star follows its last element: {@code stars} has bit 2 here. The
 * text matches if the bit of the last state, 3, is set after the last byte. This is the algorithm Shift-And
 * (Baeza-Yates and Gonnet, "A new approach to text searching", 1992), extended by stars. It looks at each byte once,
 * whatever the pattern, and needs no stack.
 *
 * <p>Tested by {@code GlobTest}.
 */
final class Glob {
    /** States are bits 0 to 63. */
    static final int MAX_ELEMENTS = 63;

    private static final int BYTES = 256;

    private final long[] masks;
    private final long stars;
    private final int elements;

    private Glob(long[] masks, long stars, int elements) {
        this.masks = masks;
        this.stars = stars;
        this.elements = elements;
    }

    /** @throws IllegalArgumentException if the bytes are not a pattern, or are too many; the message says why */
    static Glob parse(Bytes pattern) {
        List<BitSet> elements = new ArrayList<>();
        long stars = 0;
        int at = 0;
        while (at < pattern.length()) {
            int c = pattern.at(at++);
            if (c == '*') {
                stars |= 1L << elements.size();
                continue;
            }
            BitSet element = new BitSet(BYTES);
            switch (c) {
                case '?' -> element.set(0, BYTES);
                case '[' -> at = set(pattern, at, element);
                case '\\' -> {
                    if (at == pattern.length()) {
                        throw new IllegalArgumentException("nothing follows the backslash at the pattern's end");
                    }
                    element.set(pattern.at(at++));
                }
                default -> element.set(c);
            }
            elements.add(element);
            if (elements.size() > MAX_ELEMENTS) {
                throw new IllegalArgumentException("a pattern has at most " + MAX_ELEMENTS + " bytes besides '*'");
            }
        }
        long[] masks = new long[BYTES];
        for (int n = 0; n < elements.size(); n++) {
            long state = 1L << (n + 1);
            elements.get(n).stream().forEach(c -> masks[c] |= state);
        }
        return new Glob(masks, stars, elements.size());
    }

    /** Reads the members of a set in brackets; a closing bracket may be the first. Returns the index after the set. */
    private static int set(Bytes pattern, int from, BitSet element) {
        int at = from;
        boolean inverted = at < pattern.length() && (pattern.at(at) == '!' || pattern.at(at) == '^');
        at += inverted ? 1 : 0;
        boolean first = true;
        while (true) {
            if (at >= pattern.length()) {
                throw new IllegalArgumentException("'[' without ']' in the pattern");
            }
            if (pattern.at(at) == ']' && !first) {
                break;
            }
            first = false;
            at += pattern.at(at) == '\\' && at + 1 < pattern.length() ? 1 : 0;
            int low = pattern.at(at++);
            int high = low;
            if (at + 1 < pattern.length() && pattern.at(at) == '-' && pattern.at(at + 1) != ']') {
                at++;
                at += pattern.at(at) == '\\' && at + 1 < pattern.length() ? 1 : 0;
                high = pattern.at(at++);
            }
            if (low > high) {
                throw new IllegalArgumentException("a range in brackets ends before it begins");
            }
            if (high >= 0x80) {
                throw new IllegalArgumentException("a character between brackets is not ASCII: it has several bytes");
            }
            element.set(low, high + 1);
        }
        if (inverted) {
            element.flip(0, BYTES);
        }
        return at + 1;
    }

    boolean matches(Bytes text) {
        long states = 1;
        for (int i = 0; i < text.length(); i++) {
            states = (states << 1 & masks[text.at(i)]) | (states & stars);
        }
        return (states >>> elements & 1) != 0;
    }

    /** For each byte, the states that it can lead to; not a copy. */
    long[] masks() {
        return masks;
    }

    /** The states that remain after any byte. */
    long stars() {
        return stars;
    }

    /** The number of the bit of the state in which the whole pattern has matched. */
    int last() {
        return elements;
    }
}
