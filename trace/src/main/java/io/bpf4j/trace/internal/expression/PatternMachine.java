package io.bpf4j.trace.internal.expression;

import io.bpf4j.loader.internal.glob.Glob;
import java.util.ArrayList;
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
 * <p>Braces are written out: <code>a{b,c}</code> is {@code ab} or {@code ac}. Such patterns follow one another in the
 * word, each with a first and a last state of its own. No mask has the bit of a first state, so none is reached from
 * the pattern before it.
 *
 * <p>Tested by {@code PatternMachineTest}.
 */
final class PatternMachine {
    /** States are bits 0 to 63. */
    private static final int MAX_STATES = Long.SIZE;

    private static final int BYTES = 256;

    private final long[] masks = new long[BYTES];
    private long stars;
    private long first;
    private long last;

    /** @throws IllegalArgumentException if the pattern has too many states; the message says why */
    PatternMachine(Glob pattern) {
        int state = 0;
        for (List<Glob.Part> written : writtenOut(pattern.parts())) {
            first |= 1L << state;
            for (Glob.Part part : written) {
                if (part instanceof Glob.OneOf element) {
                    state++;
                    for (int c = 0; c < BYTES; c++) {
                        masks[c] |= element.contains(c) ? 1L << state : 0;
                    }
                } else {
                    stars |= 1L << state;
                }
            }
            last |= 1L << state++;
        }
    }

    /** The patterns without choices that together match the same texts. */
    private static List<List<Glob.Part>> writtenOut(List<Glob.Part> parts) {
        List<List<Glob.Part>> before = List.of(List.of());
        for (Glob.Part part : parts) {
            List<List<Glob.Part>> next = part instanceof Glob.Choice choice
                    ? choice.patterns().stream()
                            .flatMap(pattern -> writtenOut(pattern).stream())
                            .toList()
                    : List.of(List.of(part));
            List<List<Glob.Part>> longer = new ArrayList<>();
            int states = 0;
            for (List<Glob.Part> start : before) {
                for (List<Glob.Part> end : next) {
                    List<Glob.Part> both = new ArrayList<>(start);
                    both.addAll(end);
                    longer.add(both);
                    states += 1
                            + (int) both.stream()
                                    .filter(Glob.OneOf.class::isInstance)
                                    .count();
                    if (states > MAX_STATES) {
                        throw new IllegalArgumentException("a pattern has at most " + (MAX_STATES - 1)
                                + " bytes besides '*'; with braces, all that they stand for is counted, and one more for"
                                + " each text");
                    }
                }
            }
            before = longer;
        }
        return before;
    }

    /** For each byte, the states that it can lead to; not a copy. */
    long[] masks() {
        return masks;
    }

    /** The states that remain after any byte. */
    long stars() {
        return stars;
    }

    /** The states before the first byte. */
    long first() {
        return first;
    }

    /** The states in which a whole pattern has matched. */
    long last() {
        return last;
    }
}
