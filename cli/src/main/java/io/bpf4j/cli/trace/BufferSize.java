package io.bpf4j.cli.trace;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The size of a ring buffer, as {@code --buffer} takes it: {@code 64KiB}, {@code 16MiB}, {@code 65536}. */
public final class BufferSize {
    /**
     * In bytes. Has room for some 190,000 events with up to four numbers: an eighth of a second at 1.5 million events a
     * second. That is longer than the JVM takes to compile the code that reads events, and longer than a process waits
     * for a processor on a busy machine.
     */
    public static final int DEFAULT = 16 << 20;

    private static final int SMALLEST = 4096;

    /** In bytes. The kernel takes powers of two that fit 32 bits. */
    private static final long LARGEST = 1L << 30;

    private static final Pattern SYNTAX = Pattern.compile("([0-9]{1,12})\\s*([a-z]*)", Pattern.CASE_INSENSITIVE);
    private static final Map<String, Long> UNITS = Map.of(
            "", 1L, "b", 1L, "k", 1L << 10, "kib", 1L << 10, "m", 1L << 20, "mib", 1L << 20, "g", 1L << 30, "gib",
            1L << 30);

    private BufferSize() {}

    /**
     * Reads a size.
     *
     * @return the size in bytes, rounded up to a power of two
     * @throws IllegalArgumentException if the text is not a size, or is out of range
     */
    public static int parse(String text) {
        Matcher matcher = SYNTAX.matcher(text);
        Long unit = matcher.matches() ? UNITS.get(matcher.group(2).toLowerCase(Locale.ROOT)) : null;
        if (unit == null) {
            throw new IllegalArgumentException("'" + text + "' is not a size such as 64KiB or 16MiB");
        }
        long number = Long.parseLong(matcher.group(1));
        long size = number * unit;
        if (number > LARGEST / unit || size < SMALLEST) {
            throw new IllegalArgumentException("the size of a ring buffer is 4KiB to 1GiB, not " + text);
        }
        return (int) (Long.highestOneBit(size - 1) << 1);
    }
}
