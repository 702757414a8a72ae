package io.bpf4j.cli.output;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Text in UTF-8, in one reused array of bytes. Numbers, names that were encoded before, and bytes of a process are
 * appended without allocation. <i>Confined.</i>
 */
public final class LineBuffer {
    /** The number of bytes that justify a system call to write them. */
    public static final int FULL = 1 << 16;

    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    /** The maximum length of a number: 19 digits and a sign, or 20 digits of an unsigned number. */
    private static final int MAX_DIGITS = 20;

    /** The two digits of each number from 00 to 99. */
    private static final byte[] PAIRS = pairs();

    private byte[] bytes = new byte[256];
    private int size;

    private static byte[] pairs() {
        byte[] pairs = new byte[200];
        for (int n = 0; n < 100; n++) {
            pairs[2 * n] = (byte) ('0' + n / 10);
            pairs[2 * n + 1] = (byte) ('0' + n % 10);
        }
        return pairs;
    }

    /** The number of bytes in the buffer. */
    public int size() {
        return size;
    }

    /** Empties the buffer. */
    public void clear() {
        size = 0;
    }

    /** Makes room for {@code more} bytes. */
    private void reserve(int more) {
        if (bytes.length - size < more) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, Math.addExact(size, more)));
        }
    }

    public LineBuffer append(byte[] encoded) {
        reserve(encoded.length);
        System.arraycopy(encoded, 0, bytes, size, encoded.length);
        size += encoded.length;
        return this;
    }

    public LineBuffer append(char ascii) {
        reserve(1);
        bytes[size++] = (byte) ascii;
        return this;
    }

    public LineBuffer append(String text) {
        return append(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Appends a number with a sign, in decimal. */
    public LineBuffer decimal(long number) {
        reserve(MAX_DIGITS);
        // The digits are those of the negative number, because the smallest number has no positive counterpart.
        long rest = number < 0 ? number : -number;
        if (number < 0) {
            bytes[size++] = '-';
        }
        int digits = digits(rest);
        int at = size + digits;
        size = at;
        while (rest <= Integer.MIN_VALUE) {
            long next = rest / 100;
            at = pair((int) (next * 100 - rest), at);
            rest = next;
        }
        int few = (int) rest;
        while (few <= -100) {
            int next = few / 100;
            at = pair(next * 100 - few, at);
            few = next;
        }
        if (few <= -10) {
            pair(-few, at);
        } else {
            bytes[at - 1] = (byte) ('0' - few);
        }
        return this;
    }

    private int pair(int value, int end) {
        bytes[end - 1] = PAIRS[2 * value + 1];
        bytes[end - 2] = PAIRS[2 * value];
        return end - 2;
    }

    /** The number of digits of a number that is negative or 0. */
    private static int digits(long number) {
        int digits = 1;
        for (long limit = -10; digits < 19; limit *= 10, digits++) {
            if (number > limit) {
                return digits;
            }
        }
        return digits;
    }

    /** Appends a number without a sign, in decimal: -1 is 18446744073709551615. */
    public LineBuffer unsigned(long number) {
        if (number >= 0) {
            return decimal(number);
        }
        long most = Long.divideUnsigned(number, 10);
        return decimal(most).decimal(number - 10 * most);
    }

    /** Appends {@code 0x} and a number without a sign, in hexadecimal. */
    public LineBuffer hex(long number) {
        append('0').append('x');
        int digits = Math.max(1, (Long.SIZE - Long.numberOfLeadingZeros(number) + 3) / 4);
        reserve(digits);
        for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
            bytes[size++] = HEX[(int) (number >>> shift) & 15];
        }
        return this;
    }

    /** Appends exactly {@code digits} digits of a nonnegative number: with leading zeros, or its last digits. */
    public LineBuffer fixed(int number, int digits) {
        reserve(digits);
        int start = size;
        size += digits;
        int at = size;
        int rest = number;
        while (at - start >= 2) {
            at = pair(rest % 100, at);
            rest /= 100;
        }
        if (at > start) {
            bytes[start] = (byte) ('0' + rest % 10);
        }
        return this;
    }

    /**
     * Appends bytes of a process if they need no escape in text and in JSON: ASCII without control characters, quotes
     * and backslashes.
     *
     * @return whether they were appended
     */
    public boolean appendPlain(MemorySegment from, long offset, int length) {
        reserve(length);
        MemorySegment.copy(from, ValueLayout.JAVA_BYTE, offset, bytes, size, length);
        for (int i = size; i < size + length; i++) {
            byte b = bytes[i];
            if (b < ' ' || b == '"' || b == '\\' || b == 0x7f) {
                return false;
            }
        }
        size += length;
        return true;
    }

    /** The content of the buffer. */
    public byte[] toBytes() {
        return Arrays.copyOf(bytes, size);
    }

    /** The content of the buffer as a string. */
    @Override
    public String toString() {
        return new String(bytes, 0, size, StandardCharsets.UTF_8);
    }

    /** Writes the content of the buffer, and empties it. */
    void writeTo(OutputStream out) throws IOException {
        int written = size;
        size = 0;
        out.write(bytes, 0, written);
    }
}
