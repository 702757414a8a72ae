package io.bpf4j.cli.trace;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An argument to show as a string: {@code --str N} or {@code --str N:M}.
 *
 * <p>A probe's argument is a number. Whether it points to text, and where the text ends, is a convention of the
 * program: C ends it by a zero byte, HotSpot passes the length in a second argument and writes no zero.
 * <i>Immutable.</i>
 *
 * @param pointer number of the argument with the address, from 0
 * @param length number of the argument with the length in bytes, or {@link #ZERO_TERMINATED}
 */
public record StringArg(int pointer, int length) {
    /** The text ends at its first zero byte. */
    public static final int ZERO_TERMINATED = -1;

    /** A USDT probe has at most this many arguments (BPF_USDT_MAX_ARG_CNT of libbpf's usdt.bpf.h). */
    public static final int MAX_ARGS = 12;

    private static final Pattern SYNTAX = Pattern.compile("([0-9]{1,4})(?::([0-9]{1,4}))?");

    public StringArg {
        if (pointer < 0 || pointer >= MAX_ARGS || length < ZERO_TERMINATED || length >= MAX_ARGS) {
            throw new IllegalArgumentException("arguments are numbered from 0 to " + (MAX_ARGS - 1));
        }
        if (pointer == length) {
            throw new IllegalArgumentException("argument " + pointer + " can't be the address and the length at once");
        }
    }

    /** The highest argument that is read. */
    public int highest() {
        return Math.max(pointer, length);
    }

    /** The notation of the option: {@code 0} or {@code 0:1}. */
    @Override
    public String toString() {
        return length == ZERO_TERMINATED ? Integer.toString(pointer) : pointer + ":" + length;
    }

    /**
     * Reads {@code N} or {@code N:M}.
     *
     * @throws IllegalArgumentException if it is neither, or a number is above 11
     */
    public static StringArg parse(String text) {
        Matcher matcher = SYNTAX.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("'" + text
                    + "' is neither N (argument N is a zero-terminated string)"
                    + " nor N:M (a string at argument N whose length is argument M)");
        }
        String length = matcher.group(2);
        return new StringArg(
                Integer.parseInt(matcher.group(1)), length == null ? ZERO_TERMINATED : Integer.parseInt(length));
    }
}
