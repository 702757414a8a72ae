package io.bpf4j.cli.trace;

import io.bpf4j.cli.output.Text;
import java.util.function.Function;

/**
 * The names of threads as they are written, by their 16 bytes. There are few at a time, and a name that pushes out another
 * one costs only that the other is made again. <i>Confined.</i>
 *
 * <p>Tested by {@code EventFormatTest}.
 */
final class CommCache {
    private static final int ENTRIES = 256;

    private final Function<String, byte[]> form;
    private final long[] keys = new long[2 * ENTRIES];
    private final byte[][] names = new byte[ENTRIES][];

    /** @param form makes the bytes of a name that was decoded */
    CommCache(Function<String, byte[]> form) {
        this.form = form;
    }

    /** The name of the thread of an event. */
    byte[] of(TraceEvent event) {
        long first = event.comm(0);
        long second = event.comm(1);
        long mixed = (first * 31 + second) * 0x9e37_79b9_7f4a_7c15L;
        int at = (int) (mixed >>> Long.SIZE - 8);
        byte[] name = names[at];
        if (name == null || keys[2 * at] != first || keys[2 * at + 1] != second) {
            name = form.apply(Text.decode(event.comm()));
            keys[2 * at] = first;
            keys[2 * at + 1] = second;
            names[at] = name;
        }
        return name;
    }
}
