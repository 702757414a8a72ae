package io.bpf4j.test.support;

import java.util.ArrayList;
import java.util.List;

/**
 * Makes a JVM of 64 MiB collect garbage: young collections, and full ones that move a quarter of the heap, so that a
 * pause lasts much longer than telling of it.
 */
public final class PausingMain {
    private static final int KEPT = 200_000;
    private static final int FULL = 30;
    private static final int BYTES_BETWEEN = 40 << 20;

    private PausingMain() {}

    public static void main(String[] arguments) {
        List<Object> kept = new ArrayList<>(KEPT);
        for (int i = 0; i < KEPT; i++) {
            kept.add(new long[] {i, i});
        }
        long used = 0;
        for (int i = 0; i < FULL; i++) {
            for (int made = 0; made < BYTES_BETWEEN; made += 4096) {
                used += new byte[4096].length;
            }
            System.gc();
        }
        if (kept.size() != KEPT || used != (long) FULL * BYTES_BETWEEN) {
            throw new AssertionError(kept.size() + " objects, " + used + " bytes");
        }
    }
}
