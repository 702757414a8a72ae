package io.bpf4j.trace.expression;

import io.bpf4j.elf.Bpf4jException;

/**
 * An expression is malformed, or can't be evaluated for the probes of a question. The message has the reason, and the
 * text with a caret below the position:
 *
 * <pre>
 * no name 'arg00'; the nearest is 'arg0'
 *     arg00 &gt; 50
 *     ^
 * </pre>
 *
 * <p><i>Immutable.</i>
 *
 * <p>Tested by {@code ExpressionTest}.
 */
public final class ExpressionException extends Bpf4jException {
    private static final long serialVersionUID = 1L;

    private static final String INDENT = "    ";

    /** The maximum number of characters shown. Of a longer text, only the part around the position is shown. */
    private static final int MAX_SHOWN = 100;

    private static final String CUT = "…";

    private final String reason;
    private final int position;

    /**
     * @param text of the whole expression
     * @param position of the error in the text, as the index of a {@code char}
     * @param reason without the expression
     */
    public ExpressionException(String text, int position, String reason) {
        super(reason + "\n" + place(text, position));
        this.reason = reason;
        this.position = position;
    }

    /** The reason, without the expression. */
    public String reason() {
        return reason;
    }

    /** The position of the error in the text, as the index of a {@code char}; the text's length if the end is wrong. */
    public int position() {
        return position;
    }

    private static String place(String text, int position) {
        int from = text.length() <= MAX_SHOWN ? 0 : Math.max(0, position - MAX_SHOWN / 2);
        int to = text.length() <= MAX_SHOWN ? text.length() : Math.min(text.length(), position + MAX_SHOWN / 2);
        StringBuilder line = new StringBuilder(from > 0 ? CUT : "");
        int caret = line.length() + text.codePointCount(from, position);
        text.substring(from, to).codePoints().forEach(c -> line.appendCodePoint(isShown(c) ? c : ' '));
        line.append(to < text.length() ? CUT : "");
        return INDENT + line + "\n" + INDENT + " ".repeat(caret) + "^";
    }

    /** A tab, a line end or an escape sequence would move the caret away from its position. */
    private static boolean isShown(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }
}
