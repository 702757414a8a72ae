package io.bpf4j.usdt.internal.note;

import java.util.Arrays;

/**
 * Maps the bytes of a text that was read before to its number. <i>Confined.</i>
 *
 * <p>The ten thousand sites of a large program repeat a few names and argument strings. A text that is found here is
 * neither decoded nor parsed again, and needs no memory.
 *
 * <p>Only a cache: {@link #find} may not find a text that was put. Texts with equal hash codes are easy to make, so a
 * search ends after some steps, and the time for a hostile file stays linear in its size.
 *
 * <p>Tested by {@code KnownTextsTest}.
 */
final class KnownTexts {
    /** The maximum number of slots that a search examines. */
    private static final int MAX_STEPS = 8;

    private static final int INITIAL_SIZE = 64;

    private byte[][] texts = new byte[INITIAL_SIZE][];
    private int[] numbers = new int[INITIAL_SIZE];
    private int size;

    /** The number of the text in {@code bytes[from]} to {@code bytes[to - 1]}; -1 if it isn't found. */
    int find(byte[] bytes, int from, int to) {
        int hash = hash(bytes, from, to);
        for (int step = 0; step < MAX_STEPS; step++) {
            int at = (hash + step) & (texts.length - 1);
            byte[] text = texts[at];
            if (text == null) {
                return -1;
            }
            if (text.length == to - from && Arrays.equals(text, 0, text.length, bytes, from, to)) {
                return numbers[at];
            }
        }
        return -1;
    }

    /** Keeps the number of a text that was not found. The bytes are copied. */
    void put(byte[] bytes, int from, int to, int number) {
        if (2 * size >= texts.length) {
            grow();
        }
        put(Arrays.copyOfRange(bytes, from, to), number);
    }

    private void put(byte[] text, int number) {
        int hash = hash(text, 0, text.length);
        for (int step = 0; step < MAX_STEPS; step++) {
            int at = (hash + step) & (texts.length - 1);
            if (texts[at] == null) {
                texts[at] = text;
                numbers[at] = number;
                size++;
                return;
            }
        }
    }

    private void grow() {
        byte[][] oldTexts = texts;
        int[] oldNumbers = numbers;
        texts = new byte[2 * oldTexts.length][];
        numbers = new int[2 * oldTexts.length];
        size = 0;
        for (int i = 0; i < oldTexts.length; i++) {
            if (oldTexts[i] != null) {
                put(oldTexts[i], oldNumbers[i]);
            }
        }
    }

    private static int hash(byte[] bytes, int from, int to) {
        int hash = 1;
        for (int i = from; i < to; i++) {
            hash = 31 * hash + bytes[i];
        }
        return hash ^ hash >>> 16;
    }
}
