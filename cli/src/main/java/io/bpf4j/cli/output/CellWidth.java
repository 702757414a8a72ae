package io.bpf4j.cli.output;

import java.util.ArrayList;
import java.util.List;

/**
 * The number of terminal columns that text takes: two for a character of East Asian scripts and for most emoji (Unicode
 * Standard Annex 11), none for a mark that combines with the character before it, one for all others.
 *
 * <p>Tested by {@code TableTest}.
 */
public final class CellWidth {
    private static final String CUT = "…";

    /** First and last code points of blocks whose characters are wide. */
    private static final int[][] WIDE = {
        {0x1100, 0x115f},
        {0x2e80, 0x303e},
        {0x3041, 0xa4cf},
        {0xac00, 0xd7a3},
        {0xf900, 0xfaff},
        {0xfe30, 0xfe6f},
        {0xff00, 0xff60},
        {0xffe0, 0xffe6},
        {0x1f300, 0x1f64f},
        {0x1f680, 0x1f6ff},
        {0x1f900, 0x1faff},
        {0x20000, 0x3fffd},
    };

    private CellWidth() {}

    public static int of(String text) {
        return text.codePoints().map(CellWidth::of).sum();
    }

    private static int of(int c) {
        if (c < 0x300) {
            return 1;
        }
        int type = Character.getType(c);
        if (type == Character.NON_SPACING_MARK || type == Character.ENCLOSING_MARK) {
            return 0;
        }
        for (int[] range : WIDE) {
            if (c >= range[0] && c <= range[1]) {
                return 2;
            }
        }
        return 1;
    }

    /** Cuts text to a number of columns; text that is cut ends in {@code …}. */
    public static String cut(String text, int width) {
        if (of(text) <= width) {
            return text;
        }
        StringBuilder cut = new StringBuilder();
        int left = width - 1;
        for (int c : text.codePoints().toArray()) {
            left -= of(c);
            if (left < 0) {
                break;
            }
            cut.appendCodePoint(c);
        }
        return width < 1 ? "" : cut + CUT;
    }

    /** Breaks text into lines of at most so many columns: at blanks, or in a word that is longer than a line. */
    public static List<String> lines(String text, int width) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ", -1)) {
            if (!line.isEmpty() && of(line.toString()) + 1 + of(word) > width) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.isEmpty() ? "" : " ");
            for (int c : word.codePoints().toArray()) {
                if (of(line.toString()) + of(c) > width) {
                    lines.add(line.toString());
                    line.setLength(0);
                }
                line.appendCodePoint(c);
            }
        }
        lines.add(line.toString());
        return lines;
    }
}
