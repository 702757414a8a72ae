package io.bpf4j.test.support;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * A record of {@code args12.bpf.o}; its layout is in {@code args12.bpf.c}.
 *
 * @param argCount 0 to 12, or a negative errno
 * @param results for each of 12 arguments 0 or a negative errno
 * @param values 12 values, 0 where there is none
 */
public record Args12Event(long cookie, int argCount, int pid, List<Long> results, List<Long> values) {
    public static final long EFAULT = -14;
    public static final long EINVAL = -22;
    public static final long ENOENT = -2;

    public static Args12Event of(ByteBuffer record) {
        return new Args12Event(
                record.getLong(0), record.getInt(8), record.getInt(12), longs(record, 16), longs(record, 112));
    }

    /** The values of the arguments that the site has. */
    public List<Long> arguments() {
        return values.subList(0, Math.max(0, argCount));
    }

    private static List<Long> longs(ByteBuffer record, int offset) {
        long[] longs = new long[12];
        record.slice(offset, 96).order(record.order()).asLongBuffer().get(longs);
        return Arrays.stream(longs).boxed().toList();
    }
}
