package io.bpf4j.trace.internal.demangle;

/**
 * Decodes identifiers with characters outside of ASCII: Punycode (RFC 3492), with {@code _} in place of the hyphen, as
 * Rust writes it.
 *
 * <p>The ASCII characters come first. Each number after them is the number of steps to the next insertion. A step goes
 * to the next position in the text, or from its end to its start with the next character code.
 *
 * <p>Tested by {@code DemanglerTest}.
 */
final class Punycode {
    private static final int BASE = 36;
    private static final int T_MIN = 1;
    private static final int T_MAX = 26;
    private static final int SKEW = 38;
    private static final int DAMP = 700;
    private static final int INITIAL_BIAS = 72;
    private static final int INITIAL_CODE = 128;

    /** Characters of an identifier. Each insertion takes time in proportion to the length. */
    private static final int MAX_LENGTH = 1 << 12;

    private Punycode() {}

    static String decode(String coded) throws MalformedSymbolException {
        if (coded.length() > MAX_LENGTH) {
            throw new MalformedSymbolException();
        }
        int split = coded.lastIndexOf('_');
        int[] text = new int[coded.length()];
        int length = 0;
        for (int i = 0; i < split; i++) {
            text[length++] = coded.charAt(i);
        }
        int code = INITIAL_CODE;
        int bias = INITIAL_BIAS;
        long position = 0;
        int at = split + 1;
        while (at < coded.length()) {
            long before = position;
            long weight = 1;
            for (int k = BASE; ; k += BASE) {
                if (at >= coded.length() || weight > Integer.MAX_VALUE) {
                    throw new MalformedSymbolException();
                }
                int digit = digit(coded.charAt(at++));
                position += digit * weight;
                int threshold = Math.clamp((long) k - bias, T_MIN, T_MAX);
                if (digit < threshold) {
                    break;
                }
                weight *= BASE - threshold;
            }
            length++;
            bias = adapt(position - before, length, before == 0);
            long steps = position / length;
            if (steps > Character.MAX_CODE_POINT - code) {
                throw new MalformedSymbolException();
            }
            code += (int) steps;
            int place = (int) (position % length);
            System.arraycopy(text, place, text, place + 1, length - 1 - place);
            text[place] = code;
            position = place + 1L;
        }
        return new String(text, 0, length);
    }

    private static int digit(char c) throws MalformedSymbolException {
        if (c >= 'a' && c <= 'z') {
            return c - 'a';
        }
        if (c >= '0' && c <= '9') {
            return c - '0' + 26;
        }
        throw new MalformedSymbolException();
    }

    private static int adapt(long delta, int length, boolean first) {
        long left = first ? delta / DAMP : delta / 2;
        left += left / length;
        int k = 0;
        while (left > (BASE - T_MIN) * T_MAX / 2) {
            left /= BASE - T_MIN;
            k += BASE;
        }
        return (int) (k + (BASE - T_MIN + 1) * left / (left + SKEW));
    }
}
